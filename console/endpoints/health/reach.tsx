import type { Endpoint } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { inWords, Outcome } from '../../parts/outcome.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
import { Time } from '../../parts/time.tsx';
import { checkEndpoint, useChange } from '../change/changes.ts';

const TONES = { ok: 'good', warning: 'wait', failed: 'bad' } as const;

type Check = NonNullable<Endpoint['newest_check']>;

/** The way of a webhook to an endpoint, checked step by step. */
export function Reach({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid, newest_check: newest } = endpoint;
  const readOnly = useReadOnly();
  const { mutate, error, isPending } = useChange<void, unknown>(() => checkEndpoint(uuid));
  return (
    <section className="panel">
      <h2>Is it reached?</h2>
      <p className="note">
        A check takes the way of a webhook and sends none: its request is a HEAD, without a body or a secret.
      </p>
      {newest === null ? null : <Steps check={newest} />}
      <p className="buttons">
        <button type="button" disabled={readOnly !== undefined || isPending} onClick={() => mutate()}>
          {isPending ? 'Checking…' : 'Check now'}
        </button>
        {readOnly === undefined ? null : <span className="note">{readOnly}</span>}
      </p>
      {error ? <ErrorPanel error={error} /> : null}
    </section>
  );
}

function Steps({ check: { checked_at: at, steps } }: { readonly check: Check }) {
  return (
    <>
      <p className="facts">
        Checked <Time at={at} />
      </p>
      <ul className="check">
        {steps.map(({ step, result, says, remedy }) => (
          <li key={step}>
            <Outcome tone={TONES[result as keyof typeof TONES] ?? 'none'}>
              {`${step} ${inWords(result)}`}
            </Outcome>{' '}
            <Foreign text={says} /> {remedy === null ? null : <Foreign text={remedy} />}
          </li>
        ))}
      </ul>
    </>
  );
}
