import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { subTypesOf } from '../../../services/domain/catalog/catalog.ts';
import type { EventType } from '../../../services/domain/event.ts';
import { FAILURES, FailingReceiver, type Failure } from '../receivers/failing-receiver.ts';
import { jsonEventOf } from '../records/events.ts';
import { MerchantClient } from '../service/merchant-client.ts';
import type { Service, ServiceSetup } from '../service/system.ts';

export interface RecoveryOptions {
  readonly darkSeconds: number;
  /** Longest wait for deliveries to arrive after the load has ended. */
  readonly afterSeconds: number;
  /** Events per second: each failure is tried with each rate. The control has the last one. */
  readonly rates: readonly number[];
  readonly failures?: readonly Failure[];
}

/** The results of one endpoint. Times in milliseconds. */
export interface RecoveryRow {
  /** null: the control, an endpoint that never fails and shows how late the machine itself is. */
  readonly failure: Failure | null;
  readonly eventsPerSecond: number;
  readonly darkSeconds: number;
  /** From posting to arrival, of the events posted after the recovery. */
  readonly lateness: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly newMissing: number;
  /** Events posted while it failed that were not tried before it recovered. */
  readonly neverTried: number;
  /** When the last of these arrived, after the recovery. */
  readonly lastNeverTriedMs: number;
  /** Deliveries that still have no attempt at the end. */
  readonly pending: number;
  readonly inFlightMost: number;
  readonly attemptsWhileDark: number;
  /** The share of one core used by the whole service, with all endpoints of the trial, while they failed. */
  readonly cpuWhileDark: number;
}

/** One event type per endpoint, so that each has its own rate. */
const TYPES: readonly EventType[] = [
  'KYC',
  'KYB',
  'AML',
  'fiatToCrypto',
  'cryptoToFiat',
  'walletCreated',
  'duplicateUser',
];
const WARM_SECONDS = 3;
const NEW_SECONDS = 15;
const IN_FORCE_MS = 1500;
const TICKS_PER_SECOND = 100;

class FailingEndpoint {
  readonly failure: Failure | null;
  readonly rate: number;
  readonly type: EventType;
  readonly receiver: FailingReceiver;
  readonly postedAt = new Map<string, number>();
  uuid = '';
  attemptsWhileDark = 0;

  constructor(failure: Failure | null, rate: number, type: EventType, receiver: FailingReceiver) {
    this.failure = failure;
    this.rate = rate;
    this.type = type;
    this.receiver = receiver;
  }
}

/** The least number of deliveries per second that a receiver of the trial can accept. */
const DRAINED_PER_SECOND = 1000;

/** Returns the endpoint's drain time for the deliveries that were never tried, milliseconds. */
export const drainMs = ({ neverTried }: RecoveryRow): number => (neverTried / DRAINED_PER_SECOND) * 1000;

/**
 * Makes several endpoints of one service fail at the same time, each in its own way and under its own load, and then
 * recover. The load continues throughout.
 */
export async function runRecoveryTrial(
  setup: ServiceSetup,
  service: Service,
  options: RecoveryOptions,
): Promise<RecoveryRow[]> {
  const { darkSeconds, afterSeconds, rates, failures = FAILURES } = options;
  const merchant = new MerchantClient(setup, () => service);
  const endpoints: FailingEndpoint[] = [];
  const stopping = new AbortController();
  try {
    const failing = failures.flatMap((failure) => rates.map((rate) => [failure, rate] as const));
    for (const [index, [failure, rate]] of [...failing, [null, rates.at(-1) ?? 1] as const].entries()) {
      const receiver = await new FailingReceiver(setup.receiverCert).start();
      const endpoint = new FailingEndpoint(failure, rate, TYPES[index] ?? 'KYC', receiver);
      endpoint.uuid = (
        await merchant.createEndpoint(receiver.url, { subscribed_events: [endpoint.type] })
      ).uuid;
      endpoints.push(endpoint);
    }
    await sleep(IN_FORCE_MS);
    const loads = endpoints.map((endpoint) => load(merchant, setup.merchantId, endpoint, stopping.signal));
    await sleep(WARM_SECONDS * 1000);
    const darkAt = Date.now();
    for (const { receiver, failure } of endpoints) if (failure) await receiver.fail(failure);
    const cpuBefore = cpuSeconds(service);
    await sleep(darkSeconds * 1000);
    const cpuWhileDark = (cpuSeconds(service) - cpuBefore) / darkSeconds;
    for (const endpoint of endpoints) endpoint.attemptsWhileDark = endpoint.receiver.failed;
    for (const { receiver } of endpoints) await receiver.recover();
    const backAt = Date.now();
    await sleep(NEW_SECONDS * 1000);
    stopping.abort();
    await Promise.all(loads);
    const until = Date.now() + afterSeconds * 1000;
    const rows: RecoveryRow[] = [];
    for (const endpoint of endpoints) {
      const pending = await settledPending(merchant, endpoint, backAt, until);
      rows.push({ ...rowOf(endpoint, darkAt, backAt), darkSeconds, cpuWhileDark, pending });
    }
    return rows;
  } finally {
    stopping.abort();
    for (const { receiver } of endpoints) await receiver.close().catch(() => {});
  }
}

/** Returns the number of pending deliveries: 0 once all new events have arrived, or the number left at `until`. */
async function settledPending(
  merchant: MerchantClient,
  { uuid, receiver, postedAt }: FailingEndpoint,
  backAt: number,
  until: number,
): Promise<number> {
  const news = [...postedAt].filter(([, at]) => at >= backAt).map(([eventId]) => eventId);
  for (;;) {
    const arrived = new Set(receiver.delivered.map(({ eventId }) => eventId));
    const pending = await pendingOf(merchant, uuid);
    if ((pending === 0 && news.every((id) => arrived.has(id))) || Date.now() > until) return pending;
    await sleep(500);
  }
}

async function load(
  merchant: MerchantClient,
  merchantId: string,
  { type, rate, postedAt }: FailingEndpoint,
  signal: AbortSignal,
): Promise<void> {
  const [subType = ''] = subTypesOf(type, '2.3.8');
  const startedAt = Date.now();
  const posts: Promise<unknown>[] = [];
  for (let count = 0; !signal.aborted; count += 1) {
    const wait = startedAt + (count * 1000) / rate - Date.now();
    if (wait > 0) await sleep(wait);
    const event = jsonEventOf(merchantId, `${type} ${count}`, { type, subType });
    postedAt.set(event.header.eventId, Date.now());
    const post = accepted(merchant, event);
    post.catch(() => {});
    posts.push(post);
  }
  await Promise.all(posts);
}

/** Posts an event until it is accepted, as a producer does. */
async function accepted(merchant: MerchantClient, event: unknown): Promise<void> {
  for (;;) {
    // After a broken connection the outcome is unknown: the event is posted again with the same id.
    const answer = await merchant.publish([event]).catch(() => null);
    if (answer?.status === 202) return;
    if (answer && answer.status !== 503 && answer.status !== 408)
      throw new Error(`publishing returned ${answer.status} ${JSON.stringify(answer.body)}`);
    await sleep(100);
  }
}

function rowOf(
  { failure, rate, receiver, postedAt, attemptsWhileDark }: FailingEndpoint,
  darkAt: number,
  backAt: number,
): Omit<RecoveryRow, 'darkSeconds' | 'cpuWhileDark' | 'pending'> {
  const arrivedAt = new Map<string, number>();
  for (const { eventId, at } of receiver.delivered) {
    if (!arrivedAt.has(eventId)) arrivedAt.set(eventId, at);
  }
  const posted = [...postedAt];
  const news = posted.filter(([, at]) => at >= backAt);
  const lateness = news
    .map(([eventId, at]) => (arrivedAt.get(eventId) ?? Number.POSITIVE_INFINITY) - at)
    .sort((a, b) => a - b);
  const quantile = (share: number) => lateness[Math.ceil(lateness.length * share) - 1] ?? 0;
  const wasPostedDark = ({ eventId }: { readonly eventId: string }) => {
    const at = postedAt.get(eventId) ?? 0;
    return at >= darkAt && at < backAt;
  };
  const neverTried = receiver.delivered.filter(
    (one) => one.attempt === 1 && one.at >= backAt && wasPostedDark(one),
  );
  return {
    failure,
    eventsPerSecond: rate,
    lateness: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
    newMissing: lateness.filter((ms) => ms === Number.POSITIVE_INFINITY).length,
    neverTried: neverTried.length,
    lastNeverTriedMs: neverTried.reduce((last, { at }) => Math.max(last, at - backAt), 0),
    inFlightMost: receiver.inFlightMost,
    attemptsWhileDark,
  };
}

async function pendingOf(merchant: MerchantClient, uuid: string): Promise<number> {
  const path = `/merchant/webhook-endpoints/${uuid}/deliveries?status=pending&limit=100`;
  return (await merchant.request('GET', path)).body.data.length;
}

/** Returns the CPU time that a process has used so far, in seconds (Linux). */
function cpuSeconds({ process: { pid } }: Service): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export function recoveryTable(engine: string, rows: readonly RecoveryRow[]): string {
  const ms = (value: number) => `${Math.round(value)}`.padStart(7);
  return [
    `${engine}, dark for ${rows[0]?.darkSeconds} s, CPU while dark ${((rows[0]?.cpuWhileDark ?? 0) * 100).toFixed(1)} % of a core`,
    'failure  ev/s | new: p50     p99     max ms | never tried  last after ms  pending | in flight  attempts while dark',
    ...rows.map(
      (row) =>
        `${(row.failure ?? 'none').padEnd(7)} ${`${row.eventsPerSecond}`.padStart(5)} | ${ms(row.lateness.p50)} ${ms(row.lateness.p99)} ` +
        `${ms(row.lateness.max)}    | ${`${row.neverTried}`.padStart(11)} ${ms(row.lastNeverTriedMs)} ${`${row.pending}`.padStart(12)}  | ` +
        `${`${row.inFlightMost}`.padStart(9)} ${`${row.attemptsWhileDark}`.padStart(12)}`,
    ),
  ].join('\n');
}
