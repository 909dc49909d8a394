import { timestamp } from '../../../api/endpoint-json.ts';
import { subjectIdFrom, subjectKindOf } from '../../../domain/catalog/subject.ts';
import { isUuid } from '../../../domain/ids.ts';
import { QUARANTINE_TEXTS } from '../../../domain/routing/quarantine-texts.ts';
import { fewAtOnce, READS_AT_ONCE } from '../../../process/few-at-once.ts';
import type { Given } from '../arguments.ts';
import { type OperatorDeps, on } from '../command.ts';
import { OperatorError } from '../operator-error.ts';
import { lookInQuarantine, notSearched, type QuarantineLook } from './in-quarantine.ts';
import { ownersOf } from './story.ts';

/** Says what an id is, whichever merchant it belongs to. */

const ARGS = {
  id: { type: 'text', required: true, positional: true, describe: 'Any id that somebody has met' },
} as const;

/** One thing that has the id. `id` is the one that its own command takes. */
interface Found {
  readonly kind:
    | 'merchant'
    | 'event'
    | 'subject'
    | 'delivery'
    | 'endpoint'
    | 'replay'
    | 'notice'
    | 'key'
    | 'request'
    | 'quarantined';
  readonly id: string;
  readonly merchantId: string | null;
  /** A description in a few words. */
  readonly says: string;
}

export const FIND_COMMANDS = {
  find: on('store', {
    describe:
      'Say what an id is: of a merchant, transaction, user, event, delivery, endpoint, replay, key or request',
    isRead: true,
    args: ARGS,
    run: find,
  }),
};

type Finder = (store: OperatorDeps['store'], id: string) => Promise<readonly Found[]>;

const FINDERS: readonly Finder[] = [
  merchants,
  subjects,
  events,
  deliveries,
  endpoints,
  replays,
  notices,
  keys,
  requests,
];

async function find(deps: OperatorDeps, { id: given }: Given<typeof ARGS>) {
  const text = given.trim();
  const id = subjectIdFrom(text) ?? (isUuid(text) ? text.toLowerCase() : text);
  const [quarantine, ...stored] = await Promise.all([
    lookInQuarantine(deps, id),
    ...FINDERS.map((each) => each(deps.store, id)),
  ]);
  const found = [...stored.flat(), ...quarantined(quarantine, id)];
  if (found.length > 0) return found;
  throw new OperatorError(
    `nothing has the id ${text}: it was deleted with age, or was never there${notSearched(quarantine)}`,
  );
}

/** Returns the newest record of each merchant. A merchant is null where it could not be read from the record. */
function quarantined({ records }: QuarantineLook, id: string): readonly Found[] {
  const newest = new Map([...records].reverse().map((record) => [record.merchantId, record]));
  return [...newest].map(([merchantId, { type, subType, at, reason }]) => {
    const event = type === undefined ? 'an event' : `${type}/${subType}`;
    const says = `${event} in quarantine since ${timestamp(at)}: ${QUARANTINE_TEXTS[reason].title} (quarantine list --about ${id})`;
    return { kind: 'quarantined', id, merchantId, says };
  });
}

/** By the id or by the name. */
async function merchants({ merchants: all }: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const wanted = id.toLowerCase();
  const list = await all.list();
  return list
    .filter(({ merchantId, name }) => merchantId === id || name.toLowerCase() === wanted)
    .map(({ merchantId, name, state }) => ({
      kind: 'merchant',
      id: merchantId,
      merchantId,
      says: `${name}, ${state}`,
    }));
}

async function subjects(store: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const owners = await ownersOf(store, id);
  return fewAtOnce(owners, READS_AT_ONCE, async (merchantId): Promise<Found> => {
    const [bySubject, byEntity] = await Promise.all([
      store.lists.events(merchantId, { subjectId: id, limit: 1 }),
      store.lists.events(merchantId, { entityId: id, limit: 1 }),
    ]);
    const newest = bySubject.records[0] ?? byEntity.records[0];
    if (newest === undefined) return { kind: 'subject', id, merchantId, says: 'its events are gone' };
    const { type, subType, occurredAt } = newest.event;
    const kind = bySubject.records[0] ? subjectKindOf(type, newest.subjectId) : 'user or corporate';
    const says = `${kind.replaceAll('_', ' ')}; newest event ${type}/${subType} of ${timestamp(occurredAt)}`;
    return { kind: 'subject', id, merchantId, says };
  });
}

async function events({ log }: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  if (!isUuid(id)) return [];
  return (await log.eventsOf(id)).map(({ event: { merchantId, type, subType, occurredAt } }) => ({
    ...{ kind: 'event', id, merchantId },
    says: `${type}/${subType} of ${timestamp(occurredAt)}`,
  }));
}

async function deliveries({ log }: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const owner = isUuid(id) ? await log.ownerOf(id) : undefined;
  const found = owner && (await log.delivery(owner.merchantId, owner.endpointId, id));
  if (!found) return [];
  const { merchantId, type, subType, status, attemptsMade } = found;
  const attempts = `${attemptsMade} ${attemptsMade === 1 ? 'attempt' : 'attempts'}`;
  return [{ kind: 'delivery', id, merchantId, says: `${type}/${subType}, ${status} after ${attempts}` }];
}

async function endpoints(store: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const found = isUuid(id) ? await store.endpoints.find(id) : undefined;
  if (!found) return [];
  return [{ kind: 'endpoint', id, merchantId: found.merchantId, says: `${found.status}: ${found.url}` }];
}

async function replays(store: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const found = isUuid(id) ? await store.replays.get(id) : undefined;
  if (!found) return [];
  const { merchantId, status, published, count } = found;
  return [{ kind: 'replay', id, merchantId, says: `${status}, ${published} of ${count} events are sent` }];
}

async function notices(store: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const found = isUuid(id) ? await store.notices.get(id) : undefined;
  if (!found) return [];
  const { merchantId, type, subType, sentAt } = found;
  const says = `operational notice ${type}/${subType}, ${sentAt === null ? 'not sent yet' : `sent ${timestamp(sentAt)}`}`;
  return [{ kind: 'notice', id, merchantId, says }];
}

async function keys(store: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  const found = (await store.keys.list()).find(({ keyId }) => keyId === id);
  if (!found) return [];
  const { kind, hint, merchantId, revokedAt } = found;
  const says = `key ${hint} of a ${kind}${revokedAt === null ? '' : `, revoked ${timestamp(revokedAt)}`}`;
  return [{ kind: 'key', id, merchantId, says }];
}

/** A request that changed something: what others did is not kept. */
async function requests({ audit }: OperatorDeps['store'], id: string): Promise<readonly Found[]> {
  if (!isUuid(id)) return [];
  const found = await audit.list({ requestId: id, limit: 1 });
  return found.map(({ action, at, merchantId }) => ({
    ...{ kind: 'request', id, merchantId },
    says: `${action} of ${timestamp(at)}`,
  }));
}
