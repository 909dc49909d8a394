import { useQuery } from '@tanstack/react-query';
import { formatDuration } from '../../../client/duration.ts';
import type { FailureCode } from '../../../services/domain/attempt.ts';
import { CODE_SIGNS } from '../../../services/domain/failures/failure-codes.ts';
import type { Metrics } from '../../api/shapes.ts';
import { Panel, Shown, Table } from '../../parts/screen.tsx';
import { percentOf } from '../counts.ts';
import { attemptsQuery, WEEK_MS } from '../endpoint-reads.ts';
import { Numbers } from '../shown.tsx';

const DAY_MS = 86_400_000;
const msOr = (ms: number | null) => (ms === null ? '–' : formatDuration(ms));

/** The attempts of a day and of a week: how many succeeded, how long the receiver took, and why the others failed. */
export function AttemptNumbers({ uuid }: { readonly uuid: string }) {
  return (
    <>
      <div className="columns">
        <Period uuid={uuid} periodMs={DAY_MS} title="Last 24 hours" />
        <Period uuid={uuid} periodMs={WEEK_MS} title="Last 7 days" />
      </div>
      <Failures uuid={uuid} />
    </>
  );
}

interface PeriodProps {
  readonly uuid: string;
  readonly periodMs: number;
  readonly title: string;
}

function Period({ uuid, periodMs, title }: PeriodProps) {
  const query = useQuery(attemptsQuery(uuid, periodMs));
  return (
    <Panel title={title}>
      <Shown query={query}>
        {({ data: [all] }) =>
          all === undefined || all.attempts === 0 ? (
            <p className="note">Nothing was attempted.</p>
          ) : (
            <>
              <Numbers
                all={{
                  succeeded: percentOf(all.attempts - all.failed, all.attempts),
                  attempts: all.attempts,
                  'your server, p50': msOr(all.p50_ms),
                  p99: msOr(all.p99_ms),
                }}
              />
              <AttemptsChart points={all.points} failed={percentOf(all.failed, all.attempts)} />
            </>
          )
        }
      </Shown>
    </Panel>
  );
}

/** A code that this build does not know stands for itself. */
const meaningOf = (code: string): string => CODE_SIGNS[code as FailureCode]?.says ?? '';

function Failures({ uuid }: { readonly uuid: string }) {
  const { data: day } = useQuery(attemptsQuery(uuid, DAY_MS, 'code'));
  const { data: week } = useQuery(attemptsQuery(uuid, WEEK_MS, 'code'));
  if (week === undefined || week.data.length === 0) return null;
  return (
    <Panel title="Failures by code" className="failures">
      <Table
        label="Failures by code"
        rows={week.data}
        keyOf={({ name }) => name ?? ''}
        numbers={['24 hours', '7 days']}
        columns={{
          code: ({ name }) => name,
          '24 hours': ({ name }) => day?.data.find((one) => one.name === name)?.failed ?? 0,
          '7 days': ({ failed }) => failed,
          meaning: ({ name }) => meaningOf(name ?? ''),
        }}
      />
    </Panel>
  );
}

type Point = Metrics['data'][number]['points'][number];

const [HEIGHT, STEP, BAR] = [56, 5, 4];
const STYLE = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const;
const time = new Intl.DateTimeFormat(undefined, STYLE);

interface Props {
  readonly points: readonly Point[];
  /** The share of the attempts that failed. */
  readonly failed: string;
}

/** Attempts by time: a bar for each step, of which the failed ones are the lower part. */
function AttemptsChart({ points, failed }: Props) {
  const most = Math.max(1, ...points.map(({ attempts }) => attempts));
  // A single attempt is seen, too.
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  const bar = (kind: string, index: number, height: number) => (
    <rect className={kind} x={index * STEP} y={HEIGHT - height} width={BAR} height={height} />
  );
  const says = `${failed} of the attempts failed`;
  const box = `0 0 ${points.length * STEP} ${HEIGHT}`;
  return (
    <figure className="chart">
      <svg viewBox={box} preserveAspectRatio="none" role="img" aria-label={says}>
        {points.map((point, index) => (
          <g key={point.at}>
            <title>{`${time.format(new Date(point.at))}: ${point.attempts} attempts, ${point.failed} failed`}</title>
            {bar('free', index, HEIGHT)}
            {bar('good', index, heightOf(point.attempts))}
            {bar('bad', index, heightOf(point.failed))}
          </g>
        ))}
      </svg>
      <figcaption className="row apart note">
        <span>{points[0] && time.format(new Date(points[0].at))}</span>
        <span>
          <span className="good">■</span> arrived <span className="bad">■</span> failed · tallest bar: {most}{' '}
          · until now
        </span>
      </figcaption>
    </figure>
  );
}
