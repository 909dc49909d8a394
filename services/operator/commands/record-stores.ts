import { timestamp } from '../../api/endpoint-json.ts';
import type { Broker, RecordStore } from '../../broker/broker.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import { newEventId, placeOf, type Quarantined } from '../../domain/quarantine.ts';
import { type Arguments, type BrokerContext, limitOf, OperatorError } from './arguments.ts';
import { filterOf, matcherOf } from './quarantine-filter.ts';
import { replay } from './quarantine-replay.ts';

/** Operator commands on the broker's record stores. */

type RecordStores = Pick<Broker, 'quarantine' | 'deadLetters' | 'stalls'>;
type Command = (recordStores: RecordStores, given: Arguments, context: BrokerContext) => Promise<unknown>;

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
    ...newIdOf(record),
  };
}

/** Returns the event id under which `--as-new-event` publishes a conflict; nothing for others. */
function newIdOf(record: Quarantined) {
  const id = newEventId(record);
  return id === null ? {} : { asNewEvent: id };
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
