import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Replay } from '../api/shapes.ts';
import { DeliveryLink } from '../parts/endpoint.tsx';
import { Panel } from '../parts/screen.tsx';
import { Outcome, Status, Time, type Tone } from '../parts/text.tsx';
import { inWords, shortId } from '../parts/words.ts';
import { isRunning, madeQuery } from './reads.ts';
import { eventsOf, tallyOf } from './words.ts';

/** The most deliveries that are listed by name; the others are in Live. */
const NAMED_MAX = 12;

const TONES: Readonly<Record<string, Tone>> = { running: 'wait', completed: 'good', cancelled: 'bad' };

/** The replays, newest first, with the progress and the deliveries of the newest. */
export function Replays({ replays }: { readonly replays: readonly Replay[] }) {
  const [newest] = replays;
  if (newest === undefined) return null;
  return (
    <Panel title="Replays">
      {isRunning(newest) ? (
        <progress aria-label="Events sent" max={Math.max(1, newest.count)} value={newest.published} />
      ) : null}
      <ul className="lines">
        {replays.map((replay) => (
          <Line key={replay.replay_uuid} replay={replay} />
        ))}
      </ul>
      <Made replay={newest} />
    </Panel>
  );
}

function Line({ replay }: { readonly replay: Replay }) {
  const { status, since, until, created_at: begun, cancel_reason: reason, left_out: leftOut } = replay;
  return (
    <li>
      <Outcome tone={TONES[status] ?? 'none'}>
        {inWords(status)}
        {reason === null ? '' : `: ${inWords(reason)}`}
      </Outcome>
      <span role={isRunning(replay) ? 'status' : undefined}>
        {replay.published.toLocaleString('en')} of {eventsOf(replay.count)} sent
        {leftOut === 0 ? '' : ` · ${leftOut} left out: the body is no longer kept`}
      </span>
      <span className="note">
        begun <Time at={begun} /> · events from <Time at={since} digits="minutes" /> to{' '}
        <Time at={until} digits="minutes" />
      </span>
    </li>
  );
}

function Made({ replay }: { readonly replay: Replay }) {
  const { data: made = [] } = useQuery(madeQuery(replay));
  if (made.length === 0) return null;
  const counts: Record<string, number> = {};
  for (const { status } of made) counts[status] = (counts[status] ?? 0) + 1;
  return (
    <>
      <p>
        Deliveries of the newest replay: {tallyOf(counts, inWords)}.{' '}
        <Link to="/live" search={{ endpoint: replay.endpoint_uuid }}>
          All deliveries to this endpoint
        </Link>
      </p>
      <ul className="made">
        {made.slice(0, NAMED_MAX).map(({ endpoint_uuid: endpoint, delivery_uuid: id, ...delivery }) => (
          <li key={id}>
            <DeliveryLink endpoint={endpoint} id={id}>
              {delivery.type}/{delivery.subType} {shortId(id)}
            </DeliveryLink>{' '}
            <Status of={delivery.status} />
          </li>
        ))}
      </ul>
    </>
  );
}
