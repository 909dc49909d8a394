import { timestamp } from '../../../api/endpoint-json.ts';
import { transactionIdOf } from '../../../domain/catalog/subject.ts';
import { PUBLISHED_ON_KAFKA } from '../../../domain/event.ts';
import { auditOf } from '../../../management/audit.ts';
import type { EventListed, Store } from '../../../store/store.ts';
import type { Given } from '../arguments.ts';
import { type OperatorDeps, on } from '../command.ts';
import { requireMerchant } from '../merchants.ts';
import { OperatorError } from '../operator-error.ts';
import { logFilterOf, OF_LOG, refuseCursor } from './filters.ts';

/** Events of any merchant. */

const ONE = {
  id: { type: 'text', required: true, positional: true, describe: 'The event’s id' },
  merchant: { type: 'text', describe: 'The merchant’s id, where several have an event with this id' },
  body: { type: 'flag', describe: 'With its data; the audit has that you looked' },
} as const;

export const EVENT_COMMANDS = {
  'events list': on('store', {
    describe: 'List events of all merchants, with the number of endpoints that each went to',
    isRead: true,
    args: OF_LOG,
    isLong: true,
    isNewestFirst: true,
    columns: ['createdAt', 'type', 'subType', 'eventId'],
    run: list,
  }),
  'events get': on('store', {
    describe: 'Show an event without its data: the key that published it, and where it went',
    isRead: true,
    showsPersonal: ({ body }) => body === true,
    args: ONE,
    run: get,
  }),
};

async function list(deps: OperatorDeps, given: Given<typeof OF_LOG>) {
  await requireMerchant(deps, given.merchant);
  const { lists } = deps.store;
  const filter = logFilterOf(given, deps.clock.wall());
  const { records, next } = await lists.events(given.merchant ?? null, filter).catch(refuseCursor);
  return { items: records.map(listedJson), next };
}

function listedJson({ event, subjectId, createdAt, routedAt, trace }: EventListed) {
  return {
    createdAt: timestamp(createdAt),
    type: event.type,
    subType: event.subType,
    eventId: event.eventId,
    merchantId: event.merchantId,
    entityId: event.entityId,
    subjectId: subjectId ?? event.entityId,
    transactionId: transactionIdOf(event.type, subjectId),
    routedAt: timestamp(routedAt),
    deliveredTo: trace.filter(({ verdict }) => verdict === 'delivered_to').length,
    notSentTo: trace.filter(({ verdict }) => verdict !== 'delivered_to').length,
    simulated: event.simulated,
  };
}

async function get(deps: OperatorDeps, { id, merchant, body: isWithBody }: Given<typeof ONE>) {
  const { store } = deps;
  const eventId = id.toLowerCase();
  const merchantId = merchant ?? (await ownerOf(store, eventId));
  const found = merchantId === undefined ? undefined : await store.log.event(merchantId, eventId);
  if (merchantId === undefined || found === undefined)
    throw new OperatorError(
      `the log has no event ${eventId}: it may be in quarantine (see find), or was deleted with age`,
    );
  const { event, subjectId, routedAt, trace } = found;
  if (isWithBody) await auditOf(deps)('event.show', { eventId }, merchantId);
  return {
    eventId,
    merchantId,
    type: event.type,
    subType: event.subType,
    entityId: event.entityId,
    entityKind: event.entityKind,
    subjectId: subjectId ?? event.entityId,
    transactionId: transactionIdOf(event.type, subjectId),
    occurredAt: timestamp(event.occurredAt),
    routedAt: timestamp(routedAt),
    simulated: event.simulated,
    ...(await publisherOf(store, event.publishedBy)),
    bodyRemoved: event.data === null,
    endpoints: trace,
    ...(isWithBody ? { body: event.data && JSON.stringify(event.data) } : {}),
  };
}

/** Returns the merchant of an event. Throws OperatorError where several have one with this id. */
async function ownerOf({ log }: Pick<Store, 'log'>, eventId: string): Promise<string | undefined> {
  const owners = (await log.eventsOf(eventId)).map(({ event }) => event.merchantId);
  if (owners.length > 1)
    throw new OperatorError(
      `several merchants have an event ${eventId}: name one with --merchant: ${owners.join(', ')}`,
    );
  return owners[0];
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
