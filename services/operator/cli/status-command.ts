import { statfs } from 'node:fs/promises';
import { timestamp } from '../../api/endpoint-json.ts';
import { STREAM_NAMES } from '../../broker/broker-status.ts';
import { messageOf } from '../../messages/error-message.ts';
import { durationText } from '../../messages/relative-time.ts';
import { plain, WIDTH } from '../../messages/text-layout.ts';
import { on } from '../commands/command.ts';
import type { MerchantsSummary } from '../commands/look/merchant.ts';
import { OperatorError } from '../commands/operator-error.ts';
import { operationsUrl, type RecordStoreSummary, recordStoreSummaries } from './ask.ts';

/** The state of a running service. Readiness and metrics need no token. */

export const STATUS_COMMANDS = {
  status: on('tool', {
    describe: 'Show the state of a running service; ends with 1 when a process is not ready',
    isRead: true,
    args: {
      urls: {
        type: 'texts',
        positional: true,
        describe: 'Operations addresses of its other processes, such as http://router-1:8081',
      },
    },
    runs: 'here, beside a running service',
    run: async ({ config, actor }, { urls = [] }) =>
      serviceStatus([operationsUrl(config()), ...urls], {
        ...(await recordStoreSummaries(config(), actor())),
        freeBytes: await freeBytes(config().dataDir),
      }),
    text: statusText,
    isFailure: ({ processes }) => processes.some(({ ready }) => !ready),
  }),
};

const MIB = 1024 * 1024;
const ANSWER_MS_MAX = 5000;
/** The process does not answer to the name in its address. */
const MISDIRECTED = 421;
const PARKED = 'hookrail_parked_tasks';
const BUILD = 'hookrail_build_info';
/** Of the metrics that every process of Node has; in seconds since the epoch. */
const STARTED = 'process_start_time_seconds';
const OVERDUE = 'hookrail_oldest_overdue_seconds';
const READERS = { events: 'routers', tasks: 'senders', delayed: 'senders', journal: 'recorders' } as const;

/** One sample of Prometheus' text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface ProcessState {
  readonly url: string;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly waiting: readonly string[];
  readonly samples: readonly Sample[];
  /** When it answered, by its own clock, milliseconds since the epoch; null = it did not say. */
  readonly answeredAt: number | null;
}

type ServiceStatus = Awaited<ReturnType<typeof serviceStatus>>;
type Summary = readonly RecordStoreSummary[] | null;

/** Returns the state of a service whose processes have these operations addresses. */
export async function serviceStatus(
  urls: readonly string[],
  counted: {
    readonly quarantine: Summary;
    readonly deadLetters: Summary;
    readonly merchants?: MerchantsSummary | null;
    readonly freeBytes?: number | null;
  },
) {
  const states = await Promise.all(urls.map(stateOf));
  const samples = states.flatMap((state) => state.samples);
  return {
    processes: states.map(({ samples: own, answeredAt, ...state }) => ({
      ...state,
      ...runOf(own, answeredAt),
      producerWaitingSeconds: largest(own, 'hookrail_producer_waiting_seconds'),
      producerWaitingBytes: largest(own, 'hookrail_producer_waiting_bytes'),
      directoryStalenessSeconds: largest(own, 'hookrail_directory_staleness_seconds'),
      stuckHandlers: largest(own, 'hookrail_stuck_handlers'),
      // Those that cross a network without TLS, and the variable that ends each; production only.
      plainConnections: own
        .filter(({ name }) => name === 'hookrail_plain_connection')
        .map(({ labels: { to = '', setting = '' } }) => ({ to, setting })),
    })),
    streams: STREAM_NAMES.map((stream) => {
      const own = samples.filter(({ labels }) => labels.stream === stream);
      return {
        stream,
        // By any of the processes.
        isRead: own.some(({ name }) => name === 'hookrail_backlog'),
        waiting: total(own, 'hookrail_backlog'),
        oldestSeconds: largest(own, 'hookrail_consumer_lag_seconds'),
        stalledPartitions: own
          .filter(({ name, value }) => name === 'hookrail_partition_stalled' && value === 1)
          .map(({ labels }) => `${labels.topic}/${labels.partition}`),
        lostRecords: total(own, 'hookrail_records_lost_total'),
      };
    }),
    // Put back without an attempt; they wait to come up again.
    parked: parkedOf(samples),
    // Null while no process knows it.
    oldestOverdueSeconds: samples.some(({ name }) => name === OVERDUE) ? largest(samples, OVERDUE) : null,
    // Null when no process with the role api was reached to count.
    merchants: null,
    // Of the disk of the data directory, where it is on this machine.
    freeBytes: null,
    ...counted,
  };
}

/** Returns what a process runs and for how long it has; each is null where the process does not tell it. */
function runOf(samples: readonly Sample[], answeredAt: number | null) {
  const version = samples.find(({ name }) => name === BUILD)?.labels.version ?? null;
  const seconds = samples.find(({ name }) => name === STARTED)?.value;
  if (seconds === undefined) return { version, startedAt: null, uptimeSeconds: null };
  const startedAt = timestamp(seconds * 1000);
  const uptime = answeredAt === null ? null : Math.max(0, Math.round(answeredAt / 1000 - seconds));
  return { version, startedAt, uptimeSeconds: uptime };
}

/** Prints the state, a paragraph per item. */
export function statusText(status: ServiceStatus): string {
  const lines = [
    ...status.processes.flatMap(processLines),
    ...status.streams.map(streamLine),
    `parked tasks: ${parkedText(status.parked)}`,
    `overdue tasks: ${overdueText(status.oldestOverdueSeconds)}`,
    `quarantine: ${storeLine(status.quarantine)}`,
    `dead letters: ${storeLine(status.deadLetters)}`,
    ...merchantLines(status.merchants),
    ...(status.freeBytes === null ? [] : [`free disk: ${Math.floor(status.freeBytes / MIB)} MiB`]),
  ];
  return plain.fold(lines.join('\n'), WIDTH);
}

function processLines(process: ServiceStatus['processes'][number]): string[] {
  const { url, ready, reasons, waiting, plainConnections } = process;
  const withoutTls = plainConnections.map(({ to, setting }) => `${to} (${setting})`);
  const producer =
    process.producerWaitingBytes === 0
      ? 'nothing waits to be written'
      : `${process.producerWaitingBytes} bytes wait to be written, the oldest for ${durationText(process.producerWaitingSeconds)}`;
  return [
    `${url}: ${ready ? 'ready' : 'NOT READY'}; ${producer}; directory proved up to date ${durationText(process.directoryStalenessSeconds)} ago; ` +
      `stuck handlers: ${process.stuckHandlers === 0 ? 'none' : process.stuckHandlers}`,
    ...runLines(process),
    ...reasons.map((reason) => `  not ready: ${reason}`),
    ...waiting.map((line) => `  waiting: ${line}`),
    ...(withoutTls.length === 0 ? [] : [`  without TLS: ${withoutTls.join(', ')}`]),
  ];
}

function runLines({ version, uptimeSeconds }: ServiceStatus['processes'][number]): string[] {
  const parts = [
    ...(version === null ? [] : [`version ${version}`]),
    ...(uptimeSeconds === null ? [] : [`up for ${durationText(uptimeSeconds)}`]),
  ];
  return parts.length === 0 ? [] : [`  ${parts.join(', ')}`];
}

function parkedOf(samples: readonly Sample[]) {
  const reasons = samples.filter(({ name }) => name === PARKED).map(({ labels }) => labels.reason ?? '');
  return [...new Set(reasons)].flatMap((reason) => {
    const own = samples.filter(({ labels }) => labels.reason === reason);
    const count = total(own, PARKED);
    return count === 0
      ? []
      : [{ reason, count, oldestSeconds: largest(own, 'hookrail_parked_oldest_seconds') }];
  });
}

function parkedText(parked: ReturnType<typeof parkedOf>): string {
  if (parked.length === 0) return 'none';
  return parked
    .map(
      ({ reason, count, oldestSeconds }) =>
        `${count} ${reason}, the oldest for ${durationText(oldestSeconds)}`,
    )
    .join('; ');
}

function overdueText(seconds: number | null): string {
  if (seconds === null)
    return 'not known yet: the processes ask the brokers now, run this again in five seconds';
  return seconds < 1 ? 'none' : `the oldest for ${durationText(seconds)}`;
}

function streamLine(stream: ServiceStatus['streams'][number]): string {
  if (!stream.isRead) {
    const readers = READERS[stream.stream as keyof typeof READERS];
    return `${stream.stream}: not read by these processes; ${readers} read it: pass their operations addresses`;
  }
  const parts = [
    stream.waiting === 0 && stream.oldestSeconds < 1
      ? 'nothing waits'
      : `${stream.waiting} records wait, the oldest for ${durationText(stream.oldestSeconds)}`,
    ...(stream.stalledPartitions.length === 0 ? [] : [`STALLED: ${stream.stalledPartitions.join(', ')}`]),
    ...(stream.lostRecords === 0 ? [] : [`LOST since the start: ${stream.lostRecords} records`]),
  ];
  return `${stream.stream}: ${parts.join('; ')}`;
}

function storeLine(summary: Summary): string {
  if (summary === null) return 'unknown: no process with the api role was reached';
  if (summary.length === 0) return 'empty';
  return summary.map(({ reason, count }) => `${count} ${reason}`).join(', ');
}

function merchantLines(merchants: MerchantsSummary | null): string[] {
  if (merchants === null) return [];
  const { onHold, endpoints } = merchants;
  const more = onHold.count > onHold.names.length ? ', …' : '';
  const held = onHold.count === 0 ? 'none' : `${onHold.count}: ${onHold.names.join(', ')}${more}`;
  const { active, disabled, auto_disabled: auto, failing } = endpoints;
  return [
    `merchants on hold: ${held}`,
    `endpoints: ${active} active, ${failing} of them failing; ${disabled + auto} disabled, ${auto} of them by hookrail`,
  ];
}

/** Returns the free space of a folder's disk; null where there is no such folder here. */
async function freeBytes(folder: string): Promise<number | null> {
  const disk = await statfs(folder).catch(() => null);
  return disk && disk.bavail * disk.bsize;
}

function total(samples: readonly Sample[], wanted: string): number {
  return samples.reduce((sum, { name, value }) => (name === wanted ? sum + value : sum), 0);
}

function largest(samples: readonly Sample[], wanted: string): number {
  return Math.max(0, ...samples.filter(({ name }) => name === wanted).map(({ value }) => value));
}

async function stateOf(url: string): Promise<ProcessState> {
  const base = url.replace(/\/$/, '');
  const [readiness, metrics] = await Promise.all([bodyOf(`${base}/readyz`), bodyOf(`${base}/metrics`)]);
  const { ready, reasons, waiting = [] } = JSON.parse(readiness.text);
  const { text, answeredAt } = metrics;
  return { url: base, ready, reasons, waiting, samples: samplesOf(text), answeredAt };
}

async function bodyOf(url: string): Promise<{ readonly text: string; readonly answeredAt: number | null }> {
  const { request } = await import('undici');
  try {
    const answer = await request(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const text = await answer.body.text();
    // The clock of its machine: that of this one may be another.
    const at = Date.parse(`${answer.headers.date}`);
    if (answer.statusCode !== MISDIRECTED) return { text, answeredAt: Number.isNaN(at) ? null : at };
    throw new OperatorError(`${url}: ${JSON.parse(text).error}`);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const why = messageOf(error);
    throw new OperatorError(
      `no service answers at ${url} (${why}): is it HOOKRAIL_OPS_HOST and HOOKRAIL_OPS_PORT of a running process?`,
    );
  }
}

function samplesOf(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => /^(hookrail_|process_start_time)/.test(line));
  return lines.map((line) => {
    const at = line.lastIndexOf(' ');
    const [name = '', ...labels] = line.slice(0, at).split('{');
    return { name, labels: labelsOf(labels.join('{')), value: Number(line.slice(at + 1)) };
  });
}

/** Reads `name="value",name="value"}`. No value of ours has a quotation mark. */
function labelsOf(text: string): Record<string, string> {
  const parts = text.split('"');
  const labels: Record<string, string> = {};
  for (let i = 0; i + 1 < parts.length; i += 2) {
    labels[(parts[i] ?? '').replaceAll(/[,=]/g, '')] = parts[i + 1] ?? '';
  }
  return labels;
}
