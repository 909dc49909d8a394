import type { Metrics } from '../../api/shapes.ts';
import { percentOf } from './percent.ts';

type Point = Metrics['data'][number]['points'][number];

const HEIGHT = 56;
const BAR = 4;
const STEP = 5;
const time = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Attempts by time: a bar for each step, of which the failed ones are the lower part. */
export function AttemptsChart({ points }: { readonly points: readonly Point[] }) {
  const most = Math.max(1, ...points.map(({ attempts }) => attempts));
  const attempts = points.reduce((sum, point) => sum + point.attempts, 0);
  const failed = points.reduce((sum, point) => sum + point.failed, 0);
  const first = points[0];
  // A single attempt is seen, too.
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${points.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${attempts} attempts over time, ${percentOf(failed, attempts)} failed`}
      >
        {points.map((point, index) => {
          const [all, bad] = [heightOf(point.attempts), heightOf(point.failed)];
          return (
            <g key={point.at}>
              <title>{`${time.format(new Date(point.at))}: ${point.attempts} attempts, ${point.failed} failed`}</title>
              <rect className="free" x={index * STEP} y={0} width={STEP} height={HEIGHT} />
              <rect className="good" x={index * STEP} y={HEIGHT - all} width={BAR} height={all} />
              <rect className="bad" x={index * STEP} y={HEIGHT - bad} width={BAR} height={bad} />
            </g>
          );
        })}
      </svg>
      <figcaption className="note">
        <span>{first === undefined ? '' : time.format(new Date(first.at))}</span>
        <span>
          <span className="good">■</span> arrived <span className="bad">■</span> failed · tallest bar: {most}
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}
