import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Replay } from '../api/shapes.ts';
import { inWords, Outcome, type Tone, toneOf } from '../parts/outcome.tsx';
import { shortId } from '../parts/short-id.ts';
import { Time } from '../parts/time.tsx';
import { countOfReplay } from './bring-back.tsx';
import { isRunning, madeQuery } from './reads.ts';

/** The most deliveries that are listed by name; the others are in Live. */
const NAMED_MAX = 12;

const TONES: Readonly<Record<string, Tone>> = { running: 'wait', completed: 'good', cancelled: 'bad' };

/** The newest replay with its progress and its deliveries, and those before it. */
export function Replays({ replays }: { readonly replays: readonly Replay[] }) {
  const [newest, ...before] = replays;
  if (newest === undefined) return null;
  return (
    <section className="panel">
      <h2>Replays</h2>
      <Line replay={newest} />
      {isRunning(newest) ? (
        <progress aria-label="Events sent" max={Math.max(1, newest.count)} value={newest.published} />
      ) : null}
      <Made replay={newest} />
      {before.length === 0 ? null : (
        <details>
          <summary>{before.length === 1 ? '1 replay before' : `${before.length} replays before`}</summary>
          {before.map((replay) => (
            <Line key={replay.replay_uuid} replay={replay} />
          ))}
        </details>
      )}
    </section>
  );
}

function Line({ replay }: { readonly replay: Replay }) {
  const { status, since, until, created_at: begun, cancel_reason: reason, left_out: leftOut } = replay;
  return (
    <p className="replay-line" role={isRunning(replay) ? 'status' : undefined}>
      <Outcome tone={TONES[status] ?? 'none'}>
        {inWords(status)}
        {reason === null ? '' : `: ${inWords(reason)}`}
      </Outcome>{' '}
      {countOfReplay(replay)}
      {leftOut === 0 ? '' : ` · ${leftOut} left out: the body is no longer kept`}{' '}
      <span className="note">
        begun <Time at={begun} /> · events from <Time at={since} digits="minutes" /> to{' '}
        <Time at={until} digits="minutes" />
      </span>
    </p>
  );
}

function Made({ replay }: { readonly replay: Replay }) {
  const { data: made = [] } = useQuery(madeQuery(replay));
  if (made.length === 0) return null;
  const counts = new Map<string, number>();
  for (const { status } of made) counts.set(status, (counts.get(status) ?? 0) + 1);
  return (
    <>
      <p className="facts">
        {[...counts].map(([status, count]) => (
          <Outcome key={status} tone={toneOf(status)}>
            {count} {inWords(status)}
          </Outcome>
        ))}
        {made.length < replay.published ? <span className="note">of the newest {made.length}</span> : null}
      </p>
      <ul className="made">
        {made
          .slice(0, NAMED_MAX)
          .map(({ endpoint_uuid: endpoint, delivery_uuid: id, type, subType, status }) => (
            <li key={id}>
              <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id }}>
                {type}/{subType} {shortId(id)}
              </Link>{' '}
              <Outcome tone={toneOf(status)}>{inWords(status)}</Outcome>
            </li>
          ))}
      </ul>
      <p>
        <Link to="/live" search={{ endpoint: replay.endpoint_uuid }}>
          All deliveries to this endpoint
        </Link>
      </p>
    </>
  );
}
