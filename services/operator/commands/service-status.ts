import { statfs } from 'node:fs/promises';
import { timestamp } from '../../api/endpoint-json.ts';
import { STREAM_NAMES } from '../../broker/broker-status.ts';
import { messageOf } from '../../messages/error-message.ts';
import type { MerchantsSummary } from './look/merchant.ts';
import { OperatorError } from './operator-error.ts';

/** The state of a running service, as its processes tell it: readiness and metrics need no token. */

const ANSWER_MS_MAX = 5000;
/** The process does not answer to the name in its address. */
const MISDIRECTED = 421;
const PARKED = 'hookrail_parked_tasks';
const BUILD = 'hookrail_build_info';
/** Of the metrics that every process of Node has; in seconds since the epoch. */
const STARTED = 'process_start_time_seconds';
const OVERDUE = 'hookrail_oldest_overdue_seconds';

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

/** A row of `quarantine summary` or `dead-letters summary`. */
export interface RecordStoreSummary {
  readonly reason: string;
  readonly count: number;
  readonly oldest: string;
  readonly newest: string;
}

export type ServiceStatus = Awaited<ReturnType<typeof serviceStatus>>;
/** Null: no process with the role api counted. */
export type Summary = readonly RecordStoreSummary[] | null;

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
        // Until the oldest record that is not processed is deleted by age; null where nothing is.
        headroomSeconds: smallest(own, 'hookrail_retention_headroom_seconds'),
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

/** Returns the free space of a folder's disk; null where there is no such folder here. */
export async function freeBytes(folder: string): Promise<number | null> {
  const disk = await statfs(folder).catch(() => null);
  return disk && disk.bavail * disk.bsize;
}

function total(samples: readonly Sample[], wanted: string): number {
  return samples.reduce((sum, { name, value }) => (name === wanted ? sum + value : sum), 0);
}

function largest(samples: readonly Sample[], wanted: string): number {
  return Math.max(0, ...samples.filter(({ name }) => name === wanted).map(({ value }) => value));
}

function smallest(samples: readonly Sample[], wanted: string): number | null {
  const values = samples.filter(({ name }) => name === wanted).map(({ value }) => value);
  return values.length === 0 ? null : Math.min(...values);
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
