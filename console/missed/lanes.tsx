import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSession } from '../api/session.ts';
import type { Endpoint } from '../api/shapes.ts';
import { labelOf } from '../parts/endpoint-name.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { inWords, Outcome, toneOf } from '../parts/outcome.tsx';
import { Time } from '../parts/time.tsx';
import type { MissedSearch, Window } from './missed-search.ts';
import { dryRunQuery, isRunning, replaysQuery } from './reads.ts';
import type { Column, Mark, Spell } from './spells.ts';
import { TimeLine } from './time-line.tsx';

/** An endpoint with what it missed in the window. */
export interface LaneOf {
  readonly endpoint: Endpoint;
  readonly marks: readonly Mark[];
  readonly columns: readonly Column[];
  readonly spells: readonly Spell[];
}

interface Props {
  readonly window: Window;
  readonly search: MissedSearch;
  readonly lanes: readonly LaneOf[];
  readonly chosen: string;
  readonly range: { readonly from: number; readonly to: number };
}

/** The endpoints below each other on one scale of time. */
export function Lanes({ window, search, lanes, chosen, range }: Props) {
  const isNoticed = ({ endpoint, marks }: LaneOf) =>
    marks.length > 0 || endpoint.status !== 'active' || endpoint.uuid === chosen;
  const quiet = lanes.filter((lane) => !isNoticed(lane));
  const list = (shown: readonly LaneOf[]) => (
    <ul className="lanes">
      {shown.map((lane) => (
        <Lane
          key={lane.endpoint.uuid}
          lane={lane}
          window={window}
          search={search}
          {...(lane.endpoint.uuid === chosen ? { range } : {})}
        />
      ))}
    </ul>
  );
  return (
    <>
      {list(lanes.filter(isNoticed))}
      {quiet.length === 0 ? null : (
        <details>
          <summary>
            {quiet.length} {quiet.length === 1 ? 'endpoint' : 'endpoints'} missed nothing
          </summary>
          {list(quiet)}
        </details>
      )}
      <p className="axis note" aria-hidden="true">
        {[0, 1, 2, 3, 4].map((quarter) => (
          <span key={quarter}>
            <Time
              at={new Date(window.from + ((window.to - window.from) * quarter) / 4).toISOString()}
              digits="minutes"
            />
          </span>
        ))}
      </p>
      <ul className="legend note">
        <li className="missed">missed</li>
        <li className="owed">still being tried</li>
        <li className="disabled">disabled now</li>
        <li className="good">attempts succeeded</li>
        <li className="bad">attempts failed</li>
        <li className="replay">replay</li>
      </ul>
    </>
  );
}

interface LaneProps {
  readonly lane: LaneOf;
  readonly window: Window;
  readonly search: MissedSearch;
  readonly range?: Props['range'];
}

function Lane({ lane, window, search, range }: LaneProps) {
  const { endpoint, marks, columns, spells } = lane;
  const { uuid, status } = endpoint;
  const missed = missedOf(marks);
  const { data: replays = [] } = useQuery({ ...replaysQuery(uuid), enabled: missed > 0 });
  const { endpoint: _, since: _since, until: _until, ...rest } = search;
  const disabledAt = endpoint.disabled_at === null ? null : Date.parse(endpoint.disabled_at);
  return (
    <li className={range === undefined ? '' : 'chosen'}>
      <p className="lane-head">
        <Link to="/missed" search={{ ...rest, endpoint: uuid }} aria-current={range ? 'true' : undefined}>
          <Foreign text={labelOf(endpoint)} />
        </Link>
        {status === 'active' ? null : <Outcome tone={toneOf(status)}>{inWords(status)}</Outcome>}
        <Remaining lane={lane} window={window} ended={replays.find((one) => !isRunning(one))?.replay_uuid} />
      </p>
      <TimeLine
        {...{ window, columns, spells, replays, disabledAt }}
        {...(range === undefined ? {} : { range })}
        says={`${missed} missed in ${spells.length} dark ${spells.length === 1 ? 'spell' : 'spells'}`}
      />
    </li>
  );
}

/** Says what an endpoint missed in the window, and whether it is back. */
function Remaining({
  lane: { endpoint, marks },
  window,
  ended,
}: {
  readonly lane: LaneOf;
  readonly window: Window;
  readonly ended: string | undefined;
}) {
  const missed = missedOf(marks);
  const owed = marks.length - missed;
  const isWriter = useSession()?.access === 'write';
  const since = new Date(window.from).toISOString();
  const { data } = useQuery({
    ...dryRunQuery(endpoint.uuid, { since }, ended),
    enabled: isWriter && missed > 0,
  });
  const trying = owed === 0 ? null : <Outcome tone="wait">{owed} still being tried</Outcome>;
  if (missed === 0) return trying ?? <Outcome tone="none">nothing missed</Outcome>;
  return (
    <>
      {data === undefined ? (
        <Outcome tone="bad">{missed} missed</Outcome>
      ) : (
        <Outcome tone={data.count === 0 ? 'good' : 'bad'}>
          {data.count === 0 ? `all ${missed} are back` : `${data.count} missing`}
        </Outcome>
      )}
      {trying}
    </>
  );
}

/** Counts the marks of events that do not arrive by themselves any more. */
export function missedOf(marks: readonly Mark[]): number {
  return marks.filter(({ reason }) => reason !== 'owed').length;
}
