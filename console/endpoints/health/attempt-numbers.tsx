import { useQuery } from '@tanstack/react-query';
import { formatDuration } from '../../../client/duration.ts';
import type { FailureCode } from '../../../services/domain/attempt.ts';
import { CODE_SIGNS } from '../../../services/domain/failures/failure-codes.ts';
import { Shown } from '../../parts/shown.tsx';
import { percentOf } from '../counts.ts';
import { attemptsQuery, WEEK_MS } from '../endpoint-reads.ts';
import { Numbers } from '../shown.tsx';
import { AttemptsChart } from './attempts-chart.tsx';

const DAY_MS = 86_400_000;
const msOr = (ms: number | null) => (ms === null ? '–' : formatDuration(ms));

/** The attempts of a day and of a week: how many succeeded, how long the receiver took, and why the others failed. */
export function AttemptNumbers({ uuid }: { readonly uuid: string }) {
  return (
    <>
      <div className="periods">
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
    <section className="panel">
      <h2>{title}</h2>
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
    </section>
  );
}

/** A code that this build does not know stands for itself. */
const meaningOf = (code: string): string => CODE_SIGNS[code as FailureCode]?.says ?? '';

function Failures({ uuid }: { readonly uuid: string }) {
  const { data: day } = useQuery(attemptsQuery(uuid, DAY_MS, 'code'));
  const { data: week } = useQuery(attemptsQuery(uuid, WEEK_MS, 'code'));
  if (week === undefined || week.data.length === 0) return null;
  return (
    <section className="panel">
      <h2>Failures by code</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section className="scroll failures" tabIndex={0} aria-label="Failures by code">
        <table>
          <thead>
            <tr>
              {['code', '24 hours', '7 days', 'meaning'].map((head) => (
                <th key={head} scope="col" className={/^\d/.test(head) ? 'number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {week.data.map(({ name, failed }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td className="number">{day?.data.find((one) => one.name === name)?.failed ?? 0}</td>
                <td className="number">{failed}</td>
                <td>{meaningOf(name ?? '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
