import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../client/duration.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { EndpointNames } from '../client/endpoint-names.ts';
import { METRIC_GROUPS, MerchantApi, type MetricsAnswer } from '../client/merchant-api.ts';
import { parseDuration } from '../duration.ts';
import { usage } from '../exit.ts';
import type { Output } from '../output.ts';
import { parsePast, pastTime } from '../past-time.ts';
import { shortened } from '../scenario/live-lines.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { findEndpoint } from './log/find.ts';

interface MetricsOptions extends CommandOptions {
  readonly since: string;
  readonly until?: string;
  readonly step?: string;
  readonly by?: (typeof METRIC_GROUPS)[number];
  readonly endpoint?: string;
  readonly type?: EventType;
}

type Series = MetricsAnswer['data'][number];
type Counts = Pick<Series, 'attempts' | 'failed' | 'p50_ms' | 'p99_ms'>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Steps of which one is taken when none is given: the shortest with which the table has at most so many rows. */
const STEPS_MS = [
  ...[5, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12, 24].map((hours) => hours * HOUR_MS),
];
const FIVE_MINUTES_MS = 5 * MINUTE_MS;
const ROWS_MAX = 24;

/** Shows how many attempts there were, how many failed, and how long the receivers took. */
export function metricsCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, MetricsOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args.options({
        since: { type: 'string', default: '24h', describe: 'Attempts since then: 2h (ago), or RFC 3339' },
        until: { type: 'string', describe: 'Attempts before then: 2h (ago), or RFC 3339' },
        step: { type: 'string', describe: 'Time of one row: 5m, 1h; a multiple of 5m' },
        by: { choices: METRIC_GROUPS, describe: 'A row for each of these instead of each time' },
        endpoint: { type: 'string', describe: 'Only at this endpoint: uuid, 8 digits, name or URL' },
        type: { choices: EVENT_TYPES, describe: 'Only of this event type' },
      }) as unknown as Argv<MetricsOptions>,
    handler: (options) => inSession(options, surroundings, (session) => metrics(session, options)),
  };
}

async function metrics(session: Session, options: MetricsOptions): Promise<void> {
  const { output } = session;
  const { by, type } = options;
  const since = parsePast('since', options.since, 'metrics');
  const until = parsePast('until', options.until, 'metrics');
  const given = parseStep(options.step);
  const api = new MerchantApi(session.api());
  const [from, to] = [await pastTime(since, api), until && (await pastTime(until, api))];
  const periodMs = (to ? Date.parse(to) : await api.now()) - Date.parse(from);
  const step = (given ?? STEPS_MS.find((each) => periodMs / each <= ROWS_MAX) ?? 24 * HOUR_MS) / 1000;
  const endpoint_uuid = options.endpoint && (await findEndpoint(api, options.endpoint));
  const answer = await api.metrics({ from, to, step, by, type, endpoint_uuid });
  const isEmpty = answer.data.every(({ attempts }) => attempts === 0);
  if (output.format === 'pretty' && isEmpty) {
    const none = by === 'code' ? 'no attempt failed' : 'nothing was attempted';
    return output.advise({ says: `${none} from ${utc(answer.from)} to ${utc(answer.to)} UTC`, next: [] });
  }
  const names = new EndpointNames(api);
  if (by === 'endpoint') for (const { name } of answer.data) await names.learn(name ?? '');
  output.result(answer, () => table(answer, names, output));
  if (by === undefined) output.remark('why attempts failed: hookrail sim metrics --by code');
}

function parseStep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const step = parseDuration(text);
  if (step !== undefined && step >= FIVE_MINUTES_MS && step % FIVE_MINUTES_MS === 0) return step;
  throw usage(`--step "${text}" is not a multiple of 5m`, 'hookrail sim metrics --step 15m');
}

/** With `by` a row for each series, otherwise one for each time. */
function table({ by, data }: MetricsAnswer, names: EndpointNames, output: Output): string {
  const head = [by ?? 'from (UTC)', 'attempts', 'failed', 'p50', 'p99'];
  const name = (series: Series) =>
    by === 'endpoint' ? shortened(names.of(series.name ?? '').label) : (series.name ?? '');
  const rows =
    by === null
      ? data.flatMap(({ points }) => points.map((point) => row(utc(point.at), point)))
      : data.map((series) => row(name(series), series));
  const paint = (cells: readonly string[]) => cells.map((cell) => output.paint('bold', cell));
  const all = by === null && data[0] ? [row('all', data[0])] : [];
  return output.table([paint(head), ...rows, ...all.map(paint)]);
}

function row(name: string, { attempts, failed, p50_ms, p99_ms }: Counts): readonly string[] {
  return [name, `${attempts}`, `${failed}`, duration(p50_ms), duration(p99_ms)];
}

function duration(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms);
}

/** Returns a time to the minute. */
function utc(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
