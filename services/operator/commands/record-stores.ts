import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import type { Broker, RecordStore, Requeued } from '../../broker/broker.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import {
  QUARANTINE_REASONS,
  type Quarantined,
  type QuarantineReason,
  type RecordOrigin,
} from '../../domain/quarantine.ts';
import { type BlameKind, blameKey } from '../../domain/stalls/stall.ts';
import { type AddToAudit, type Arguments, limitOf, OperatorError, timeOf } from './arguments.ts';

/** Operator commands on the broker's record stores. */

type RecordStores = Pick<Broker, 'quarantine' | 'deadLetters' | 'stalls'>;
type Command = (recordStores: RecordStores, given: Arguments, context: BrokerContext) => Promise<unknown>;

export interface BrokerContext {
  readonly now: number;
  readonly audit: AddToAudit;
}

const LIST_DEFAULT = 100;
const LIST_MAX = 1000;

export const RECORD_STORE_COMMANDS = {
  'quarantine-list': async ({ quarantine }, given, { now }) => {
    const matches = matcherOf(filterOf(given, now));
    const records = await quarantine.list({ ...pageOf(given), matches }).catch(refuseRange);
    return records.map(({ position, record }) => quarantinedJson(position, record));
  },
  'quarantine-summary': ({ quarantine }) => summaryOf(quarantine),
  'quarantine-show': async ({ quarantine }, { position }, { audit }) => {
    if (typeof position !== 'string') throw new OperatorError('position: must be a text');
    const record = await quarantine.read(position).catch(refuseRange);
    if (!record)
      throw new OperatorError(`there is no record at ${position} in quarantine: see quarantine list`);
    const { eventId, merchantId } = record;
    await audit('quarantine.show', { position, eventId }, merchantId);
    return { ...quarantinedJson(position, record), ...originJson(record), base64: base64Of(record.bytes) };
  },
  'quarantine-replay': replay,
  'dead-letters-list': async ({ deadLetters }, given) => {
    const records = await deadLetters.list(pageOf(given)).catch(refuseRange);
    return records.map(({ position, record }) => deadLetterJson(position, record));
  },
  'dead-letters-summary': ({ deadLetters }) => summaryOf(deadLetters),
} as const satisfies Record<string, Command>;

/** The most positions in an audit entry. */
const POSITIONS_MAX = 100;
/** The most refusals in a response; the others are still listed. */
const REFUSALS_MAX = 20;

/**
 * Puts records back where they came from: those at `positions`, or all of a `reason` or a `merchant`, or `all`. It
 * first finds the records that are there when it begins, so that a record that returns at once is put back only once.
 */
async function replay(
  { quarantine, stalls }: RecordStores,
  given: Arguments,
  { now, audit }: BrokerContext,
): Promise<Replayed> {
  const { positions = [], all = false } = given;
  if (!Array.isArray(positions) || !positions.every((position) => typeof position === 'string')) {
    throw new OperatorError('positions: must be a list of texts');
  }
  const filter = filterOf(given, now);
  const chooses = all === true || Object.values(filter).some((value) => value !== undefined);
  if (chooses === positions.length > 0) {
    throw new OperatorError(
      'give positions (see quarantine list), or --all, --reason, --merchant or --since',
    );
  }
  const chosen = new Set<unknown>(positions);
  const matches = matcherOf(filter);
  const wanted: string[] = chooses ? [] : positions;
  const pardoned = new Set<string>();
  await quarantine.visit((position, record) => {
    if (chooses ? !matches(record) : !chosen.has(position)) return;
    if (chooses) wanted.push(position);
    for (const key of blamedFor(record)) pardoned.add(key);
  });
  if (wanted.length === 0) return { replayed: 0 };
  const asked = { ...filter, since: timestampOrNull(filter.since ?? null) ?? undefined };
  const positionsOf = { records: wanted.length, positions: wanted.slice(0, POSITIONS_MAX) };
  await audit('quarantine.replay', { ...asked, ...positionsOf }, filter.merchant);
  // Otherwise it would be put aside again at once.
  if (pardoned.size > 0) await stalls.append({ at: now, pardoned: [...pardoned] });
  const { requeued, refused } = await quarantine.requeue(wanted);
  if (refused.length === 0) return { replayed: requeued };
  return { replayed: requeued, refused: refused.length, refusals: refused.slice(0, REFUSALS_MAX) };
}

/** `refusals` has the first refused records. */
interface Replayed {
  readonly replayed: number;
  readonly refused?: number;
  readonly refusals?: Requeued['refused'];
}

interface Filter {
  readonly reason: QuarantineReason | undefined;
  readonly merchant: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

function filterOf(given: Arguments, now: number): Filter {
  const { reason, merchant } = given;
  if (merchant !== undefined && typeof merchant !== 'string')
    throw new OperatorError('merchant: must be a text');
  const known = QUARANTINE_REASONS.find((candidate) => candidate === reason);
  if (reason !== undefined && known === undefined) {
    throw new OperatorError(`reason: must be one of ${QUARANTINE_REASONS.join(', ')}`);
  }
  return { reason: known, merchant, since: timeOf(given, 'since', now) };
}

function matcherOf({ reason, merchant, since }: Filter): (record: Quarantined) => boolean {
  return (record) =>
    (reason === undefined || record.reason === reason) &&
    (merchant === undefined || record.merchantId === merchant) &&
    (since === undefined || record.at >= since);
}

/** Returns how many records each reason has, and the times of the oldest and the newest of them; most first. */
async function summaryOf(records: {
  readonly visit: RecordStore<{ readonly reason: string; readonly at: number }>['visit'];
}): Promise<unknown> {
  const sums = new Map<string, { count: number; oldest: number; newest: number }>();
  await records.visit((_, { reason, at }) => {
    const sum = sums.get(reason) ?? { count: 0, oldest: at, newest: at };
    sum.count += 1;
    sum.oldest = Math.min(sum.oldest, at);
    sum.newest = Math.max(sum.newest, at);
    sums.set(reason, sum);
  });
  return [...sums]
    .sort(([, one], [, other]) => other.count - one.count)
    .map(([reason, { count, oldest, newest }]) => ({
      reason,
      count,
      oldest: timestamp(oldest),
      newest: timestamp(newest),
    }));
}

/** Returns what stalls were counted by for a record that was put aside; nothing for others. */
function blamedFor({ reason, deliveryId, endpointId, merchantId, eventId, origin }: Quarantined): string[] {
  const ids: Partial<Record<BlameKind, string | null | undefined>> = {
    ...(reason === 'attempt_stalled' && { delivery: deliveryId, endpoint: endpointId, merchant: merchantId }),
    ...(reason === 'event_stalled' && { event: eventId, record: origin && placeOf(origin) }),
  };
  return Object.entries(ids).flatMap(([kind, id]) => (id ? [blameKey(kind as BlameKind, id)] : []));
}

function placeOf({ topic, partition, offset }: RecordOrigin): string {
  return `${topic}/${partition}@${offset}`;
}

function pageOf(given: Arguments): { limit: number; after?: string } {
  const { after } = given;
  const limit = limitOf(given, LIST_DEFAULT, LIST_MAX);
  if (after !== undefined && typeof after !== 'string') throw new OperatorError('after: must be a position');
  return { limit, ...(after === undefined ? {} : { after }) };
}

/** Converts a record store's error for an invalid position. */
function refuseRange(error: unknown): never {
  throw error instanceof RangeError ? new OperatorError(error.message) : error;
}

/** Returns a record without its bytes: they may hold personal data. */
function quarantinedJson(position: string, record: Quarantined) {
  const {
    reason,
    detail,
    at,
    eventId,
    merchantId,
    endpointId,
    deliveryId,
    bytes,
    origin,
    publishedBy = null,
  } = record;
  const ofTask = endpointId === undefined ? {} : { endpointId, deliveryId };
  const place = origin === undefined ? null : placeOf(origin);
  const key = origin?.key ? shownBytes(origin.key) : null;
  const size = origin?.valueBytes ?? bytes.length;
  return {
    position,
    at: timestamp(at),
    reason,
    eventId,
    merchantId,
    ...ofTask,
    publishedBy,
    place,
    key,
    bytes: size,
    detail,
  };
}

/** Returns the rest of the Kafka record; nothing where there was none. */
function originJson({ origin }: Quarantined) {
  if (origin === undefined) return {};
  const headers = origin.headers.map(({ name, value }) => ({ name, value: value && shownBytes(value) }));
  const { timestamp: at, valueBytes, isWhole } = origin;
  return { recordTime: timestamp(at), headers, isTombstone: valueBytes === null, isWhole };
}

const SHOWN_BYTES_MAX = 200;

/** Returns text as it is, anything else as hexadecimal digits; cut when it is long. */
function shownBytes(bytes: Uint8Array): string {
  const beginning = Buffer.from(bytes.subarray(0, SHOWN_BYTES_MAX));
  const text = beginning.toString();
  const isText = /^[\x20-\x7e]*$/.test(text);
  const shown = isText ? text : `0x${beginning.toString('hex')}`;
  return bytes.length > SHOWN_BYTES_MAX ? `${shown}…` : shown;
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Returns a dead letter without its body: it holds personal data. */
function deadLetterJson(position: string, { task, reason, failureCode, at }: DeadLetter) {
  const { deliveryId, eventId, merchantId, endpointId, type, subType, attempt } = task;
  const event = { eventId, type, subType };
  return {
    position,
    at: timestamp(at),
    reason,
    failureCode,
    attempt,
    deliveryId,
    endpointId,
    merchantId,
    ...event,
  };
}
