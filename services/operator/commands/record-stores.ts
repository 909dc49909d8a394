import { timestamp } from '../../api/endpoint-json.ts';
import type { RecordStore } from '../../broker/broker.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import { matcherOf } from '../../management/quarantine/choice.ts';
import type { Arguments, Given } from './arguments.ts';
import { on } from './command.ts';
import { FILTER, filterOf } from './quarantine/filter.ts';
import { quarantinedJson, refuseRange } from './quarantine/record-json.ts';
import { REPLAYED, refuseChoice, replay } from './quarantine/replay.ts';
import { SHOWN, type Shown, show, shownText, withBytes } from './quarantine/show.ts';

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
  'quarantine show': on<'broker', typeof SHOWN, Shown>('broker', {
    describe: 'Show a quarantined record in clear text, with its fault marked',
    isRead: true,
    showsPersonal: () => true,
    args: SHOWN,
    run: show,
    shape: withBytes,
    text: shownText,
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

/** Returns a dead letter without its body: it holds personal data. */
function deadLetterJson(position: string, { task, reason, failureCode, at }: DeadLetter) {
  const { deliveryId, eventId, merchantId, endpointId, type, subType, attempt } = task;
  return {
    ...{ position, at: timestamp(at), reason, failureCode, attempt },
    ...{ deliveryId, endpointId, merchantId, eventId, type, subType },
  };
}
