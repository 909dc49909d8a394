import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button, Check } from '../../parts/controls.tsx';
import { ErrorPanel, Panel } from '../../parts/screen.tsx';
import { owedQuery } from '../endpoint-reads.ts';
import { waitingWords } from '../verdict.tsx';
import { rotateToPrepared, useSecretChange } from './changes.ts';
import { PrepareSecret } from './prepare-secret.tsx';
import { SecretAge } from './secret.tsx';
import { TestForm } from './test-panel.tsx';

/** Rotates the secret in three steps, of which none loses an event or has one refused. */
export function RotateSecret({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid, prepared_secret_hint: prepared } = endpoint;
  const [deployed, setDeployed] = useState<string | null>(null);
  const [isAccepted, setAccepted] = useState(false);
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending } = useSecretChange((key) => rotateToPrepared(uuid, key));
  const isRotated = data !== undefined;
  // Another one that is prepared is not deployed yet.
  const isReady = prepared !== null && deployed === prepared;
  return (
    <Panel title="Rotate the secret">
      <InForce endpoint={endpoint} />
      <ol className="stack steps">
        <Step title="Prepare the next secret, and put it beside the old one" isDone={isReady || isRotated}>
          {isRotated ? null : <PrepareSecret endpoint={endpoint} />}
          <p>
            Deploy a receiver that takes a webhook if one of its secrets verifies it. Those of{' '}
            <a href="/docs/guides/rotate-a-secret" target="_blank" rel="noreferrer">
              the guide
            </a>{' '}
            do: <code>WEBHOOK_SECRET="whsec_new… whsec_old…"</code>
          </p>
          <Check
            isOn={isReady || isRotated}
            onChange={(isOn) => setDeployed(isOn ? prepared : null)}
            disabled={readOnly !== undefined || isRotated || prepared === null}
          >
            It is deployed, and has both secrets
          </Check>
        </Step>
        <Step title="Send a test that is signed with it, and see a 2xx" isDone={isAccepted}>
          {isReady ? (
            <TestForm endpoint={endpoint} signedWith="prepared" onAccepted={() => setAccepted(true)} />
          ) : (
            <p className="note">{isRotated ? 'Rotated.' : 'After step 1.'}</p>
          )}
        </Step>
        <Step title="Rotate, and take the old secret out" isDone={isRotated}>
          {isRotated ? (
            <p>
              In force: <code>{data.secret_hint}</code>. Take the old secret out of your receiver in a minute.
            </p>
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
              <span className="note">{readOnly ?? (isReady ? 'Nothing is refused.' : 'After step 1.')}</span>
            </p>
          )}
          <ErrorPanel error={error} />
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
        <strong>The old secret ends at once:</strong> no attempt that starts more than a second after step 3
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

/** One of several steps, with whether it is done. */
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
