import { useQuery } from '@tanstack/react-query';
import { formatDuration } from '../../../client/duration.ts';
import type { FailureCode } from '../../../services/domain/attempt.ts';
import { CODE_SIGNS } from '../../../services/domain/failures/failure-codes.ts';
import type { Metrics } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Loading } from '../../parts/loading.tsx';
import { attemptsQuery, WEEK_MS } from '../endpoint-reads.ts';
import { AttemptsChart } from './attempts-chart.tsx';
import { percentOf } from './percent.ts';

const DAY_MS = 86_400_000;

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
  const { data, error, refetch } = useQuery(attemptsQuery(uuid, periodMs));
  const all = data?.data[0];
  return (
    <section className="panel">
      <h2>{title}</h2>
      {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
      {all === undefined ? error ? null : <Loading /> : null}
      {all === undefined ? null : (
        <>
          <dl className="numbers">
            <div>
              <dt>succeeded</dt>
              <dd>{all.attempts === 0 ? '–' : percentOf(all.attempts - all.failed, all.attempts)}</dd>
            </div>
            <div>
              <dt>attempts</dt>
              <dd>{all.attempts}</dd>
            </div>
            <div>
              <dt>your server, p50</dt>
              <dd>{all.p50_ms === null ? '–' : formatDuration(all.p50_ms)}</dd>
            </div>
            <div>
              <dt>p99</dt>
              <dd>{all.p99_ms === null ? '–' : formatDuration(all.p99_ms)}</dd>
            </div>
          </dl>
          {all.attempts === 0 ? (
            <p className="note">Nothing was attempted.</p>
          ) : (
            <AttemptsChart points={all.points} />
          )}
        </>
      )}
    </section>
  );
}

/** A code that this build does not know stands for itself. */
const meaningOf = (code: string): string => CODE_SIGNS[code as FailureCode]?.says ?? '';

function Failures({ uuid }: { readonly uuid: string }) {
  const { data: day } = useQuery(attemptsQuery(uuid, DAY_MS, 'code'));
  const { data: week, error } = useQuery(attemptsQuery(uuid, WEEK_MS, 'code'));
  if (error) return <ErrorPanel error={error} />;
  if (week === undefined || week.data.length === 0) return null;
  const ofDay = (code: string | null) => day?.data.find(({ name }) => name === code)?.failed ?? 0;
  return (
    <section className="panel">
      <h2>Failures by code</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section className="scroll failures" tabIndex={0} aria-label="Failures by code">
        <table>
          <thead>
            <tr>
              <th scope="col">code</th>
              <th scope="col" className="number">
                24 hours
              </th>
              <th scope="col" className="number">
                7 days
              </th>
              <th scope="col">meaning</th>
            </tr>
          </thead>
          <tbody>{week.data.map(({ name, failed }) => row(name ?? '', ofDay(name), failed))}</tbody>
        </table>
      </section>
    </section>
  );
}

function row(code: string, day: number, week: Metrics['data'][number]['failed']) {
  return (
    <tr key={code}>
      <th scope="row">{code}</th>
      <td className="number">{day}</td>
      <td className="number">{week}</td>
      <td>{meaningOf(code)}</td>
    </tr>
  );
}
