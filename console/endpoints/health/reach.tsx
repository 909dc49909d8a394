import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button } from '../../parts/controls.tsx';
import { ErrorPanel, Panel } from '../../parts/screen.tsx';
import { foreign, Outcome, Time } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { checkEndpoint, useChange } from '../change/changes.ts';

const TONES = { ok: 'good', warning: 'wait', failed: 'bad' } as const;

type Check = NonNullable<Endpoint['newest_check']>;

/** The way of a webhook to an endpoint, checked step by step. */
export function Reach({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid, newest_check: newest } = endpoint;
  const readOnly = useReadOnly();
  const { mutate, error, isPending } = useChange<void, unknown>(() => checkEndpoint(uuid));
  return (
    <Panel title="Is it reached?">
      <p className="note">
        A check takes the way of a webhook and sends none: its request is a HEAD, without a body or a secret.
      </p>
      {newest === null ? null : <Steps check={newest} />}
      <p className="row">
        <Button
          busy={isPending && 'Checking…'}
          disabled={readOnly !== undefined || isPending}
          onClick={() => mutate()}
        >
          Check now
        </Button>
        {readOnly === undefined ? null : <span className="note">{readOnly}</span>}
      </p>
      <ErrorPanel error={error} />
    </Panel>
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
            {foreign(says)} {remedy === null ? null : foreign(remedy)}
          </li>
        ))}
      </ul>
    </>
  );
}
