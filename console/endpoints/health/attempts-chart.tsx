import type { Metrics } from '../../api/shapes.ts';

type Point = Metrics['data'][number]['points'][number];

const [HEIGHT, STEP, BAR] = [56, 5, 4];
const time = new Intl.DateTimeFormat(undefined, {
  ...({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const),
});

interface Props {
  readonly points: readonly Point[];
  /** The share of the attempts that failed. */
  readonly failed: string;
}

/** Attempts by time: a bar for each step, of which the failed ones are the lower part. */
export function AttemptsChart({ points, failed }: Props) {
  const most = Math.max(1, ...points.map(({ attempts }) => attempts));
  // A single attempt is seen, too.
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  const bar = (kind: string, index: number, height: number) => (
    <rect className={kind} x={index * STEP} y={HEIGHT - height} width={BAR} height={height} />
  );
  const box = `0 0 ${points.length * STEP} ${HEIGHT}`;
  return (
    <figure className="chart">
      <svg
        viewBox={box}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${failed} of the attempts failed`}
      >
        {points.map((point, index) => (
          <g key={point.at}>
            <title>{`${time.format(new Date(point.at))}: ${point.attempts} attempts, ${point.failed} failed`}</title>
            {bar('free', index, HEIGHT)}
            {bar('good', index, heightOf(point.attempts))}
            {bar('bad', index, heightOf(point.failed))}
          </g>
        ))}
      </svg>
      <figcaption className="note">
        <span>{points[0] && time.format(new Date(points[0].at))}</span>
        <span>
          <span className="good">■</span> arrived <span className="bad">■</span> failed · tallest bar: {most}{' '}
          · until now
        </span>
      </figcaption>
    </figure>
  );
}
