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
import { type Column, type Mark, missedOf, type Spell } from './spells.ts';
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
  const quarters = [0, 1, 2, 3, 4].map((n) => window.from + ((window.to - window.from) * n) / 4);
  return (
    <>
      <ul className="lanes">
        {lanes.map((lane) => {
          const id = lane.endpoint.uuid;
          return <Lane key={id} {...{ lane, window, search }} range={id === chosen ? range : undefined} />;
        })}
      </ul>
      <p className="axis note" aria-hidden="true">
        {quarters.map((at) => (
          <Time key={at} at={new Date(at).toISOString()} digits="minutes" />
        ))}
      </p>
      <p className="note">
        Bars: red was missed, amber is still being tried. Strip below them: green where attempts succeeded,
        red where all failed. Grey: disabled now. Blue line: a replay. Frame: the range below.
      </p>
    </>
  );
}

interface LaneProps {
  readonly lane: LaneOf;
  readonly window: Window;
  readonly search: MissedSearch;
  readonly range: Props['range'] | undefined;
}

function Lane({ lane, window, search, range }: LaneProps) {
  const { endpoint, marks, columns, spells } = lane;
  const { uuid, status, disabled_at: disabledAt } = endpoint;
  const missed = missedOf(marks);
  const { data: replays = [] } = useQuery({ ...replaysQuery(uuid), enabled: missed > 0 });
  const { since: _since, until: _until, ...rest } = search;
  return (
    <li className={range === undefined ? '' : 'chosen'}>
      <p className="lane-head">
        <Link to="/missed" search={{ ...rest, endpoint: uuid }} aria-current={range !== undefined}>
          <Foreign text={labelOf(endpoint)} />
        </Link>
        {status === 'active' ? null : <Outcome tone={toneOf(status)}>{inWords(status)}</Outcome>}
        {missed === 0 ? null : (
          <Missed
            lane={lane}
            since={new Date(window.from).toISOString()}
            ended={replays.find((one) => !isRunning(one))?.replay_uuid}
          />
        )}
        {marks.length === missed ? null : (
          <Outcome tone="wait">{marks.length - missed} still being tried</Outcome>
        )}
        {marks.length === 0 ? <Outcome tone="none">nothing missed</Outcome> : null}
      </p>
      <TimeLine
        {...{ window, columns, spells, replays, range, disabledAt }}
        says={`${missed} missed in ${spells.length} dark ${spells.length === 1 ? 'spell' : 'spells'}`}
      />
    </li>
  );
}

interface MissedProps {
  readonly lane: LaneOf;
  readonly since: string;
  readonly ended: string | undefined;
}

/** Says how much an endpoint missed in the window, and how much of it is still missing. */
function Missed({ lane: { endpoint, marks }, since, ended }: MissedProps) {
  const isWriter = useSession()?.access === 'write';
  const { data } = useQuery({ ...dryRunQuery(endpoint.uuid, { since }, ended), enabled: isWriter });
  const still = data === undefined ? '' : `, ${data.count === 0 ? 'none' : data.count} still missing`;
  return (
    <Outcome tone={data?.count === 0 ? 'good' : 'bad'}>
      {missedOf(marks)} missed{still}
    </Outcome>
  );
}
