import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Endpoint } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
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
    <section className="panel">
      <h2>Rotate the secret</h2>
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
          <label>
            <input
              type="checkbox"
              checked={isReady}
              disabled={readOnly !== undefined || isRotated}
              onChange={({ target }) => setReady(target.checked)}
            />{' '}
            It is deployed, and has the secret that ends with <code>{before}</code>
          </label>
        </Step>
        <Step title="Rotate, and put the new secret beside the old one" isDone={isRotated}>
          {isRotated ? (
            <SecretOnce secret={data.signing_secret} />
          ) : (
            <p className="buttons">
              <button
                type="button"
                className="primary"
                disabled={!isReady || isPending || readOnly !== undefined}
                onClick={() => mutate()}
              >
                {isPending ? 'Rotating…' : 'Rotate now'}
              </button>
              <span className="note">
                {readOnly ??
                  (isReady ? 'What your receiver refuses meanwhile comes again.' : 'After step 1.')}
              </span>
            </p>
          )}
          {error ? <ErrorPanel error={error} /> : null}
        </Step>
        <Step title="Send a test, and see a 2xx" isDone={isAccepted}>
          {isRotated ? (
            <TestForm endpoint={endpoint} onAccepted={() => setAccepted(true)} />
          ) : (
            <p className="note">After step 2.</p>
          )}
          <p>
            Then take the old secret out of your receiver. What was refused in between waits in{' '}
            <Link to="/endpoints/$endpoint" params={{ endpoint: uuid }}>
              Health
            </Link>
            , and comes by itself.
          </p>
        </Step>
      </ol>
    </section>
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
