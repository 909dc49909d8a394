import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSession } from '../api/session.ts';
import type { Endpoint, Replay } from '../api/shapes.ts';
import { labelOf } from '../parts/endpoint.tsx';
import { Outcome, Status, Time } from '../parts/text.tsx';
import type { MissedSearch, Window } from './missed-search.ts';
import { dryRunQuery, isRunning, replaysQuery } from './reads.ts';
import { type Column, type Mark, missedOf, type Spell } from './spells.ts';

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
  const since = new Date(window.from).toISOString();
  const ended = replays.find((one) => !isRunning(one))?.replay_uuid;
  return (
    <li className={range === undefined ? '' : 'chosen'}>
      <p className="row lane-head">
        <Link to="/missed" search={{ ...rest, endpoint: uuid }} aria-current={range !== undefined}>
          {labelOf(endpoint)}
        </Link>
        {status === 'active' ? null : <Status of={status} />}
        {missed === 0 ? null : <Missed {...{ lane, since, ended }} />}
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

const WIDTH = 960;
const HEIGHT = 44;
const BOX = `0 0 ${WIDTH} ${HEIGHT}`;
/** The strip at the bottom says whether anything arrived. */
const STRIP = 5;
const BARS = HEIGHT - STRIP - 2;
const BAR_MIN = 8;

interface TimeLineProps {
  readonly window: Window;
  readonly columns: readonly Column[];
  readonly spells: readonly Spell[];
  readonly replays: readonly Replay[];
  /** The range that is chosen, and since when the endpoint is disabled. */
  readonly range: { readonly from: number; readonly to: number } | undefined;
  readonly disabledAt: string | null;
  readonly says: string;
}

/** Draws the attempts of an endpoint in time, and above them what it missed. */
function TimeLine({ window, columns, spells, replays, range, disabledAt, says }: TimeLineProps) {
  const x = (at: number) =>
    Math.min(WIDTH, Math.max(0, ((at - window.from) / (window.to - window.from)) * WIDTH));
  const band = (name: string, from: number, to: number) => {
    const width = Math.max(3, x(to) - x(from));
    return <rect key={`${name} ${from}`} className={name} x={x(from)} width={width} height={HEIGHT} />;
  };
  const most = Math.max(1, ...columns.map(({ missed, owed }) => missed + owed));
  const each = WIDTH / columns.length;
  const bar = (name: string, column: number, height: number, bottom: number) =>
    height === 0 ? null : (
      <rect className={name} x={column * each} width={each - 1} y={bottom - height} height={height} />
    );
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(BAR_MIN, (count / most) * BARS));
  return (
    <svg className="time-line" viewBox={BOX} preserveAspectRatio="none" role="img" aria-label={says}>
      {disabledAt === null ? null : band('disabled', Date.parse(disabledAt), window.to)}
      {spells.map(({ from, to }) => band('spell', from, to))}
      {columns.map(({ missed, owed, delivered, failed }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
        <g key={index}>
          {bar(`strip ${delivered > 0 ? 'good' : failed > 0 ? 'bad' : ''}`, index, STRIP, HEIGHT)}
          {bar('bad', index, heightOf(missed), BARS)}
          {bar('wait', index, Math.min(heightOf(owed), BARS - heightOf(missed)), BARS - heightOf(missed))}
        </g>
      ))}
      {replays
        .filter(({ created_at: at }) => Date.parse(at) >= window.from)
        .map(({ created_at: at }) => band('replay', Date.parse(at), Date.parse(at)))}
      {range === undefined ? null : band('range', range.from, range.to)}
    </svg>
  );
}
