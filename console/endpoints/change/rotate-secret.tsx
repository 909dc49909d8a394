import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import { Refusal } from '../../api/refusal.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
import { Time } from '../../parts/time.tsx';
import { owedQuery } from '../endpoint-reads.ts';
import { newKey, rotateSecret, useChange } from './changes.ts';
import { SecretAge } from './secret-age.tsx';
import { SecretOnce } from './secret-once.tsx';
import { TestForm } from './test-panel.tsx';

/** Rotates the secret in three steps, of which none loses an event. */
export function RotateSecret({ endpoint }: { readonly endpoint: Endpoint }) {
  const [isReady, setReady] = useState(false);
  const [isAccepted, setAccepted] = useState(false);
  const [key, setKey] = useState(newKey);
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending } = useChange(async () => {
    try {
      return await rotateSecret(endpoint.uuid, key);
    } catch (refused) {
      if (refused instanceof Refusal && refused.status < 500) setKey(newKey());
      throw refused;
    }
  });
  const isRotated = data !== undefined;
  const [hint] = useState(endpoint.secret_hint);
  return (
    <section className="panel">
      <h2>Rotate the secret</h2>
      <InForce endpoint={endpoint} />
      <ol className="steps">
        <Step title="Let your receiver accept two secrets" isDone={isReady}>
          <Prepared
            hint={hint}
            isReady={isReady}
            isOff={readOnly !== undefined || isRotated}
            onReady={setReady}
          />
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
                onClick={() => mutate(undefined)}
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
            <Checked endpoint={endpoint} onAccepted={() => setAccepted(true)} />
          ) : (
            <p className="note">After step 2.</p>
          )}
        </Step>
      </ol>
    </section>
  );
}

function InForce({ endpoint }: { readonly endpoint: Endpoint }) {
  const { secret_hint: hint, secret_rotated_at: rotated, uuid } = endpoint;
  return (
    <>
      <p className="facts">
        In force: <code>{hint}</code> · <SecretAge endpoint={endpoint} /> ·{' '}
        {rotated === null ? (
          'never rotated'
        ) : (
          <>
            rotated <Time at={rotated} />
          </>
        )}
      </p>
      <p>
        <strong>The old secret ends at once:</strong> no attempt that starts more than a second after step 2
        is signed with it. <Waiting uuid={uuid} />
      </p>
    </>
  );
}

interface PreparedProps {
  /** The end of the secret before the rotation. */
  readonly hint: string;
  readonly isReady: boolean;
  readonly isOff: boolean;
  readonly onReady: (isReady: boolean) => void;
}

function Prepared({ hint, isReady, isOff, onReady }: PreparedProps) {
  const box = useId();
  return (
    <>
      <p>
        Deploy a receiver that takes a webhook if one of its secrets verifies it. The receivers of the{' '}
        <a href="/docs/guides/rotate-a-secret" target="_blank" rel="noreferrer">
          documentation
        </a>{' '}
        do: <code>WEBHOOK_SECRET="whsec_new… whsec_old…"</code>
      </p>
      <p>
        <input
          id={box}
          type="checkbox"
          checked={isReady}
          disabled={isOff}
          onChange={({ target }) => onReady(target.checked)}
        />{' '}
        <label htmlFor={box}>
          It is deployed, and has the secret that ends with <code>{hint}</code>
        </label>
      </p>
    </>
  );
}

function Checked({ endpoint, onAccepted }: { readonly endpoint: Endpoint; readonly onAccepted: () => void }) {
  return (
    <>
      <TestForm endpoint={endpoint} onAccepted={onAccepted} />
      <p>
        When it is answered with 2xx, take the old secret out of your receiver. What was refused in between
        waits in{' '}
        <Link to="/endpoints/$endpoint" params={{ endpoint: endpoint.uuid }}>
          Health
        </Link>
        , and comes by itself.
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
    <li className={isDone ? 'done' : undefined}>
      <h3>
        {title} {isDone ? <span className="good">✓ done</span> : null}
      </h3>
      {children}
    </li>
  );
}

/** Says what waits: its next attempts have the new signature. */
function Waiting({ uuid }: { readonly uuid: string }) {
  const { data } = useQuery(owedQuery(uuid));
  if (data === undefined) return null;
  const count = data.waiting.length;
  if (count === 0) return <>No delivery waits.</>;
  const many = data.hasMore ? `${count} or more deliveries wait` : `${count} deliveries wait`;
  return <>{count === 1 ? '1 delivery waits' : many}: the next attempts have the new signature.</>;
}
