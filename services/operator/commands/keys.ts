import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { apiKeyHint, environmentOfKey, hashApiKey, newApiKey } from '../../domain/api-key.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import { didYouMean } from '../../messages/did-you-mean.ts';
import type { ApiKey, ApiKeys, PublishRights } from '../../store/store.ts';
import { type Arguments, type Command, flag, type OperatorDeps, OperatorError, text } from './arguments.ts';

/** Operator commands on API keys. */

const KEY_BYTES = 32;
/** The most names in a list of a key. */
const LIST_MAX = 1000;
/** In the place of a list: events of every type, or of every merchant. */
const ALL = 'all';

export const KEY_COMMANDS = {
  'keys-create': createKey,
  'keys-list': async ({ store }) => (await store.keys.list()).map(keyJson),
  'keys-set': setKey,
  'keys-revoke': async ({ store, clock, actor }, given) => {
    const keyId = text(given, 'id');
    const at = Math.floor(clock.wall());
    if (await store.keys.revoke(keyId, at, actor)) return { keyId, revokedAt: timestamp(at) };
    throw new OperatorError(`there is no key ${keyId} in use: see keys list`);
  },
} as const satisfies Record<string, Command>;

/** Creates a key. Only this response contains it: the store has its hash. */
async function createKey(deps: OperatorDeps, given: Arguments): Promise<unknown> {
  const { store, clock, random, environment, actor } = deps;
  const isProducer = flag(given, 'producer') ?? false;
  if (isProducer === (given.merchant !== undefined)) {
    throw new OperatorError('a key is for one merchant (--merchant <id>) or for producers (--producer)');
  }
  const { types, merchants } = await rightsOf(deps, given);
  if (!isProducer && (types !== undefined || merchants !== undefined))
    throw new OperatorError('--types and --merchants say what a producer may publish: give --producer');
  const merchantId = isProducer ? null : text(given, 'merchant');
  if (merchantId !== null && !(await store.merchants.get(merchantId)))
    throw new OperatorError(`there is no merchant ${merchantId}: see merchants list`);
  const kind = isProducer ? 'producer' : 'merchant';
  const text32 = newApiKey(kind, environment, random.bytes(KEY_BYTES));
  const key: ApiKey = {
    keyId: random.uuid(),
    kind,
    merchantId,
    hash: hashApiKey(text32),
    hint: apiKeyHint(text32),
    name: given.name === undefined ? null : text(given, 'name'),
    createdAt: Math.floor(clock.wall()),
    revokedAt: null,
    lastUsedAt: null,
    ...(types && { types }),
    ...(merchants && { merchants }),
  };
  await store.keys.create(key, actor);
  return { ...keyJson(key), key: text32 };
}

async function setKey(deps: OperatorDeps, given: Arguments): Promise<unknown> {
  const keyId = text(given, 'id');
  const rights = await rightsOf(deps, given);
  if (Object.keys(rights).length === 0)
    throw new OperatorError(`nothing to set: give --types or --merchants, with names or ${ALL}`);
  const options = { at: deps.clock.wall(), actor: deps.actor };
  const key = await deps.store.keys.setRights(keyId, rights, options);
  if (key) return keyJson(key);
  throw new OperatorError(`there is no producer's key ${keyId} in use: see keys list`);
}

type Rights = Parameters<ApiKeys['setRights']>[1];

/** Returns the lists that were given, null for all. */
async function rightsOf({ store }: OperatorDeps, given: Arguments): Promise<Rights> {
  const types = namesOf(given, 'types');
  const merchants = namesOf(given, 'merchants');
  for (const type of types ?? []) refuseUnlisted('types', type, EVENT_TYPES);
  if (merchants) {
    const known = (await store.merchants.list()).map(({ merchantId }) => merchantId);
    for (const merchant of merchants) refuseUnlisted('merchants', merchant, known);
  }
  return {
    ...(types === undefined ? {} : { types: types as readonly EventType[] | null }),
    ...(merchants === undefined ? {} : { merchants }),
  };
}

/** Returns the names of a list, null for all of them, undefined when it was not given. */
function namesOf(given: Arguments, list: string): readonly string[] | null | undefined {
  const value = given[list];
  if (value === undefined) return undefined;
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const names = texts.flatMap((each) => (typeof each === 'string' ? each.split(',') : [null]));
  const trimmed = names.flatMap((name) => (name === null ? [] : [name.trim()]));
  const isNamed = trimmed.length === names.length && trimmed.length > 0 && !trimmed.includes('');
  if (!isNamed || trimmed.length > LIST_MAX)
    throw new OperatorError(`${list}: must be 1 to ${LIST_MAX} names, or ${ALL}`);
  if (!trimmed.includes(ALL)) return [...new Set(trimmed)];
  if (trimmed.length > 1) throw new OperatorError(`${list}: ${ALL} stands alone`);
  return null;
}

function refuseUnlisted(list: keyof PublishRights, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  if (list === 'merchants')
    throw new OperatorError(
      `merchants: there is no merchant "${name}"${didYouMean(name, known)}: see merchants list`,
    );
  const which = `known: ${known.join(', ')}`;
  throw new OperatorError(`types: "${name}" is not an event type${didYouMean(name, known)}; ${which}`);
}

function keyJson(key: ApiKey) {
  const { keyId, kind, merchantId, name, hint } = key;
  return {
    keyId,
    kind,
    environment: environmentOfKey(hint),
    merchantId,
    name,
    hint,
    types: key.types ?? null,
    merchants: key.merchants ?? null,
    createdAt: timestamp(key.createdAt),
    revokedAt: timestampOrNull(key.revokedAt),
    lastUsedAt: timestampOrNull(key.lastUsedAt),
  };
}
