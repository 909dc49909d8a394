import { writeFileSync } from 'node:fs';
import { timestamp } from '../../api/endpoint-json.ts';
import type { RecordStore } from '../../broker/broker.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import { newEventId, placeOf, type Quarantined } from '../../domain/quarantine.ts';
import { QUARANTINE_TEXTS } from '../../domain/routing/quarantine-texts.ts';
import type { Arguments, Given } from './arguments.ts';
import { on } from './command.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { FILTER, filterOf, matcherOf } from './quarantine-filter.ts';
import { REPLAYED, refuseChoice, replay } from './quarantine-replay.ts';

/** The broker's record stores: what could not be used, and what ended without a success. */

const PAGE = {
  limit: { type: 'number', most: 1000, default: 100, describe: 'Number of records to list, oldest first' },
  after: { type: 'text', describe: 'Only records after this position' },
} as const satisfies Arguments;

export const RECORD_STORE_COMMANDS = {
  'quarantine list': on('broker', {
    describe: 'List events that could not be routed, with the reason',
    isRead: true,
    args: { ...PAGE, ...FILTER },
    columns: ['position', 'at', 'reason', 'title'],
    run: async ({ quarantine }, given, { now }) => {
      const matches = matcherOf(filterOf(given, now));
      const records = await quarantine.list({ ...pageOf(given), matches }).catch(refuseRange);
      return records.map(({ position, record }) => quarantinedJson(position, record));
    },
  }),
  'quarantine summary': on('broker', {
    describe: 'Count the events in quarantine, by reason',
    isRead: true,
    columns: ['reason', 'count', 'oldest', 'newest'],
    run: ({ quarantine }) => summaryOf(quarantine),
  }),
  'quarantine show': on('broker', {
    describe: 'Show one quarantined record: its position, key, headers and bytes',
    isRead: true,
    showsPersonal: () => true,
    args: {
      position: {
        type: 'text',
        required: true,
        positional: true,
        describe: 'Position from quarantine list',
      },
      encoding: {
        type: 'text',
        choices: ['hex', 'base64'],
        default: 'hex',
        local: true,
        describe: 'Encoding of the bytes shown',
      },
      file: { type: 'path', local: true, describe: 'Write the bytes into this new file instead' },
    },
    run: async ({ quarantine }, { position }, { audit }) => {
      const record = await quarantine.read(position).catch(refuseRange);
      if (!record)
        throw new OperatorError(`there is no record at ${position} in quarantine: see quarantine list`);
      const { eventId, merchantId } = record;
      await audit('quarantine.show', { position, eventId }, merchantId);
      return { ...quarantinedJson(position, record), ...originJson(record), base64: base64Of(record.bytes) };
    },
    shape: ({ base64, ...rest }, { encoding, file }) => {
      const bytes = Buffer.from(base64, 'base64');
      if (file === undefined) return { ...rest, [encoding]: bytes.toString(encoding) };
      // For its owner only, and never over another file: it may hold personal data.
      writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
      return { ...rest, file };
    },
  }),
  'quarantine replay': on('broker', {
    describe: 'Put records back where they came from, after a fix',
    args: REPLAYED,
    refuse: refuseChoice,
    run: replay,
  }),
  'dead-letters list': on('broker', {
    describe: 'List deliveries that failed seven times or were refused',
    isRead: true,
    args: PAGE,
    columns: ['position', 'at', 'reason'],
    run: async ({ deadLetters }, given) => {
      const records = await deadLetters.list(pageOf(given)).catch(refuseRange);
      return records.map(({ position, record }) => deadLetterJson(position, record));
    },
  }),
  'dead-letters summary': on('broker', {
    describe: 'Count dead letters, by reason',
    isRead: true,
    columns: ['reason', 'count', 'oldest', 'newest'],
    run: ({ deadLetters }) => summaryOf(deadLetters),
  }),
};

/** Returns how many records each reason has, and the times of the oldest and the newest of them; most first. */
async function summaryOf(records: {
  readonly visit: RecordStore<{ readonly reason: string; readonly at: number }>['visit'];
}) {
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

function pageOf({ limit, after }: Given<typeof PAGE>): { limit: number; after?: string } {
  return { limit, ...(after === undefined ? {} : { after }) };
}

/** Converts a record store's error for an invalid position. */
function refuseRange(error: unknown): never {
  throw error instanceof RangeError ? new UsageError(error.message) : error;
}

/** Returns a record without its bytes: they may hold personal data. */
function quarantinedJson(position: string, record: Quarantined) {
  const { reason, eventId, merchantId, endpointId, deliveryId, origin, detail } = record;
  return {
    ...{ position, at: timestamp(record.at), reason, eventId, merchantId },
    ...(endpointId === undefined ? {} : { endpointId, deliveryId }),
    publishedBy: record.publishedBy ?? null,
    place: origin === undefined ? null : placeOf(origin),
    key: origin?.key ? shownBytes(origin.key) : null,
    bytes: origin?.valueBytes ?? record.bytes.length,
    ...{ title: QUARANTINE_TEXTS[reason].title, detail, remedy: QUARANTINE_TEXTS[reason].remedy },
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
  return {
    ...{ position, at: timestamp(at), reason, failureCode, attempt },
    ...{ deliveryId, endpointId, merchantId, eventId, type, subType },
  };
}
