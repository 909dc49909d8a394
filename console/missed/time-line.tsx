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
  readonly range?: { readonly from: number; readonly to: number };
  /** Since when it is disabled, to this day. */
  readonly disabledAt: number | null;
  readonly says: string;
}

/** Draws the attempts of an endpoint in time, and above them what it missed. */
export function TimeLine({ window, columns, spells, replays, range, disabledAt, says }: Props) {
  const x = (at: number) =>
    Math.min(WIDTH, Math.max(0, ((at - window.from) / (window.to - window.from)) * WIDTH));
  const across = (from: number, to: number) => ({ x: x(from), width: Math.max(3, x(to) - x(from)) });
  const most = Math.max(1, ...columns.map(({ missed, owed }) => missed + owed));
  const height = (count: number) => (count === 0 ? 0 : Math.max(BAR_MIN, (count / most) * BARS));
  const each = WIDTH / columns.length;
  return (
    <svg
      className="time-line"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={says}
    >
      {range === undefined ? null : (
        <rect className="range" y={0} height={HEIGHT} {...across(range.from, range.to)} />
      )}
      {disabledAt === null ? null : (
        <rect className="disabled" y={0} height={HEIGHT} {...across(disabledAt, window.to)} />
      )}
      {spells.map(({ from, to }) => (
        <rect key={from} className="spell" y={0} height={HEIGHT - STRIP} {...across(from, to)} />
      ))}
      {columns.map((column, index) => {
        const { missed, owed, delivered, failed } = column;
        const place = { x: index * each, width: each - 1 };
        const [dark, waiting] = [height(missed), height(owed)];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
          <g key={index}>
            <rect className={stripOf(delivered, failed)} y={HEIGHT - STRIP} height={STRIP} {...place} />
            {dark > 0 ? <rect className="missed" y={BARS - dark} height={dark} {...place} /> : null}
            {waiting > 0 ? (
              <rect
                className="owed"
                y={Math.max(0, BARS - dark - waiting)}
                height={Math.min(waiting, BARS - dark)}
                {...place}
              />
            ) : null}
          </g>
        );
      })}
      {replays.map(({ replay_uuid: id, created_at: at }) =>
        Date.parse(at) < window.from ? null : (
          <rect key={id} className="replay" x={x(Date.parse(at))} width={2} y={0} height={HEIGHT} />
        ),
      )}
    </svg>
  );
}

function stripOf(delivered: number, failed: number): string {
  if (failed > 0) return delivered > 0 ? 'strip some' : 'strip bad';
  return delivered > 0 ? 'strip good' : 'strip';
}
