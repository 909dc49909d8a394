import { timestamp } from '../../api/endpoint-json.ts';
import { PUBLISHED_ON_KAFKA } from '../../domain/event.ts';
import type { Store } from '../../store/store.ts';
import { type OperatorDeps, on } from './command.ts';
import { OperatorError } from './operator-error.ts';

export const EVENT_COMMANDS = {
  'events show': on('store', {
    describe: 'Show an event without its data: the key that published it, and where it went',
    args: {
      id: { type: 'text', required: true, positional: true, describe: 'The event’s id' },
      merchant: { type: 'text', describe: 'The merchant’s id: finds it sooner' },
    },
    isLong: true,
    run: ({ store }, { id, merchant }) => shown(store, id.toLowerCase(), merchant),
  }),
};

async function shown(store: OperatorDeps['store'], eventId: string, merchant: string | undefined) {
  const { merchantId, found } = await find(store, eventId, merchant);
  const { event, routedAt, trace } = found;
  return {
    eventId,
    merchantId,
    type: event.type,
    subType: event.subType,
    entityId: event.entityId,
    entityKind: event.entityKind,
    occurredAt: timestamp(event.occurredAt),
    routedAt: timestamp(routedAt),
    simulated: event.simulated,
    ...(await publisherOf(store, event.publishedBy)),
    endpoints: trace,
  };
}

/** Searches the merchants one after the other when none is named. */
async function find(store: Pick<Store, 'log' | 'merchants'>, eventId: string, merchant: string | undefined) {
  const merchants =
    merchant === undefined ? (await store.merchants.list()).map(({ merchantId }) => merchantId) : [merchant];
  for (const merchantId of merchants) {
    const found = await store.log.event(merchantId, eventId);
    if (found) return { merchantId, found };
  }
  throw new OperatorError(
    `the log has no event ${eventId}: it may be in quarantine (see quarantine list), or was deleted with age`,
  );
}

async function publisherOf(store: Pick<Store, 'keys'>, publishedBy: string | undefined) {
  if (publishedBy === undefined) return { publishedBy: null, note: 'recorded before keys were noted' };
  if (publishedBy === PUBLISHED_ON_KAFKA)
    return { publishedBy, note: 'written to the topic directly: the brokers know by whom' };
  const key = (await store.keys.list()).find(({ keyId }) => keyId === publishedBy);
  return {
    publishedBy,
    key: key?.hint ?? null,
    keyName: key?.name ?? null,
    ...(key ? {} : { note: 'the store has no such key (any more): it may be from before a restore' }),
  };
}
