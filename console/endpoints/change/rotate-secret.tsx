import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button, Check } from '../../parts/controls.tsx';
import { EndpointLink } from '../../parts/endpoint.tsx';
import { ErrorPanel, Panel } from '../../parts/screen.tsx';
import { owedQuery } from '../endpoint-reads.ts';
import { waitingWords } from '../verdict.tsx';
import { rotateSecret, useSecretChange } from './changes.ts';
import { SecretAge, SecretOnce } from './secret.tsx';
import { TestForm } from './test-panel.tsx';

/** Rotates the secret in three steps, of which none loses an event. */
export function RotateSecret({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid } = endpoint;
  const [before] = useState(endpoint.secret_hint);
  const [isReady, setReady] = useState(false);
  const [isAccepted, setAccepted] = useState(false);
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending } = useSecretChange((key) => rotateSecret(uuid, key));
  const isRotated = data !== undefined;
  return (
    <Panel title="Rotate the secret">
      <InForce endpoint={endpoint} />
      <ol className="steps">
        <Step title="Let your receiver accept two secrets" isDone={isReady}>
          <p>
            Deploy a receiver that takes a webhook if one of its secrets verifies it. Those of{' '}
            <a href="/docs/guides/rotate-a-secret" target="_blank" rel="noreferrer">
              the guide
            </a>{' '}
            do: <code>WEBHOOK_SECRET="whsec_new… whsec_old…"</code>
          </p>
          <Check isOn={isReady} onChange={setReady} disabled={readOnly !== undefined || isRotated}>
            It is deployed, and has the secret that ends with <code>{before}</code>
          </Check>
        </Step>
        <Step title="Rotate, and put the new secret beside the old one" isDone={isRotated}>
          {isRotated ? (
            <SecretOnce secret={data.signing_secret} />
          ) : (
            <p className="row">
              <Button
                kind="primary"
                busy={isPending && 'Rotating…'}
                disabled={!isReady || readOnly !== undefined}
                onClick={() => mutate()}
              >
                Rotate now
              </Button>
              <span className="note">
                {readOnly ??
                  (isReady ? 'What your receiver refuses meanwhile comes again.' : 'After step 1.')}
              </span>
            </p>
          )}
          <ErrorPanel error={error} />
        </Step>
        <Step title="Send a test, and see a 2xx" isDone={isAccepted}>
          {isRotated ? null : <p className="note">After step 2.</p>}
          {isRotated ? <TestForm endpoint={endpoint} onAccepted={() => setAccepted(true)} /> : null}
          <p>
            Then take the old secret out of your receiver. What was refused in between waits in{' '}
            <EndpointLink uuid={uuid}>Health</EndpointLink>, and comes by itself.
          </p>
        </Step>
      </ol>
    </Panel>
  );
}

/** The secret in force, and what ends with it. */
function InForce({ endpoint }: { readonly endpoint: Endpoint }) {
  const { data: owed } = useQuery(owedQuery(endpoint.uuid));
  return (
    <>
      <p className="facts">
        In force: <code>{endpoint.secret_hint}</code> · <SecretAge endpoint={endpoint} />
      </p>
      <p>
        <strong>The old secret ends at once:</strong> no attempt that starts more than a second after step 2
        is signed with it. Deliveries that wait, and get the new signature: {waitingWords(owed)}.
      </p>
    </>
  );
}

interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li>
      <h3>
        {title} {isDone ? <span className="good">✓ done</span> : null}
      </h3>
      {children}
    </li>
  );
}
