import type { Replay } from '../api/shapes.ts';
import type { Window } from './missed-search.ts';
import type { Column, Spell } from './spells.ts';

const WIDTH = 960;
const HEIGHT = 44;
/** The strip at the bottom says whether anything arrived. */
const STRIP = 5;
const BARS = HEIGHT - STRIP - 2;
const BAR_MIN = 8;

interface Props {
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
export function TimeLine({ window, columns, spells, replays, range, disabledAt, says }: Props) {
  const x = (at: number) =>
    Math.min(WIDTH, Math.max(0, ((at - window.from) / (window.to - window.from)) * WIDTH));
  const band = (name: string, from: number, to: number) => (
    <rect
      key={`${name} ${from}`}
      className={name}
      x={x(from)}
      width={Math.max(3, x(to) - x(from))}
      height={HEIGHT}
    />
  );
  const most = Math.max(1, ...columns.map(({ missed, owed }) => missed + owed));
  const each = WIDTH / columns.length;
  const bar = (name: string, column: number, height: number, bottom: number) =>
    height === 0 ? null : (
      <rect className={name} x={column * each} width={each - 1} y={bottom - height} height={height} />
    );
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(BAR_MIN, (count / most) * BARS));
  return (
    <svg
      className="time-line"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={says}
    >
      {disabledAt === null ? null : band('disabled', Date.parse(disabledAt), window.to)}
      {spells.map(({ from, to }) => band('spell', from, to))}
      {columns.map(({ missed, owed, delivered, failed }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
        <g key={index}>
          {bar(`strip ${delivered > 0 ? 'good' : failed > 0 ? 'missed' : ''}`, index, STRIP, HEIGHT)}
          {bar('missed', index, heightOf(missed), BARS)}
          {bar('owed', index, Math.min(heightOf(owed), BARS - heightOf(missed)), BARS - heightOf(missed))}
        </g>
      ))}
      {replays
        .filter(({ created_at: at }) => Date.parse(at) >= window.from)
        .map(({ created_at: at }) => band('replay', Date.parse(at), Date.parse(at)))}
      {range === undefined ? null : band('range', range.from, range.to)}
    </svg>
  );
}
