import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { apiKeyHint, environmentOfKey, hashApiKey, newApiKey } from '../../domain/api-key.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import { didYouMean } from '../../messages/did-you-mean.ts';
import type { ApiKey, ApiKeys } from '../../store/store.ts';
import type { Arguments, Given } from './arguments.ts';
import { type OperatorDeps, on } from './command.ts';
import { requireMerchant } from './merchants.ts';
import { OperatorError } from './operator-error.ts';

/** The API keys of merchants and producers. */

const KEY_BYTES = 32;
/** In the place of a list: events of every type, or of every merchant. */
const ALL = 'all';

const ID = { id: { type: 'text', required: true, positional: true, describe: 'The keyId' } } as const;
const RIGHTS = {
  types: {
    type: 'names',
    describe: 'Event types that a producer’s key may publish, or all',
    check: unknownType,
  },
  merchants: { type: 'names', describe: 'Ids of the merchants whose events it may publish, or all' },
} as const satisfies Arguments;
const CREATED = {
  merchant: { type: 'text', describe: 'The merchant’s id' },
  producer: { type: 'flag', describe: 'A producer key, for services that publish events' },
  name: { type: 'text', describe: 'What it is for, to tell keys apart' },
  ...RIGHTS,
} as const satisfies Arguments;

export const KEY_COMMANDS = {
  'keys create': on('store', {
    describe: 'Create a key; it is shown only once',
    args: CREATED,
    refuse: (given) => {
      const { producer = false, merchant } = given;
      if (producer === (merchant !== undefined))
        return 'a key is for one merchant (--merchant <id>) or for producers (--producer)';
      if (!producer && (given.types ?? given.merchants))
        return '--types and --merchants say what a producer may publish: give --producer';
      return allAlone(given);
    },
    run: createKey,
  }),
  'keys list': on('store', {
    describe: 'List the keys',
    isRead: true,
    columns: ['keyId', 'kind', 'hint', 'lastUsedAt'],
    run: async ({ store }) => (await store.keys.list()).map(keyJson),
  }),
  'keys set': on('store', {
    describe: 'Change what a producer’s key may publish; in force from its next request on',
    args: { ...ID, ...RIGHTS },
    refuse: (given) =>
      given.types || given.merchants
        ? allAlone(given)
        : `nothing to set: give --types or --merchants, with names or ${ALL}`,
    run: async (deps, { id, ...given }) => {
      const options = { at: deps.clock.wall(), actor: deps.actor };
      const key = await deps.store.keys.setRights(id, await rightsOf(deps, given), options);
      if (key) return keyJson(key);
      throw new OperatorError(`there is no producer's key ${id} in use: see keys list`);
    },
  }),
  'keys revoke': on('store', {
    describe: 'Revoke a key',
    args: ID,
    run: async ({ store, clock, actor }, { id: keyId }) => {
      const at = Math.floor(clock.wall());
      if (await store.keys.revoke(keyId, at, actor)) return { keyId, revokedAt: timestamp(at) };
      throw new OperatorError(`there is no key ${keyId} in use: see keys list`);
    },
  }),
};

/** Creates a key. Only this response contains it: the store has its hash. */
async function createKey(deps: OperatorDeps, given: Given<typeof CREATED>) {
  const { store, clock, random, environment, actor } = deps;
  const { merchant: merchantId = null, name = null } = given;
  const rights = await rightsOf(deps, given);
  await requireMerchant(deps, merchantId);
  const kind = merchantId === null ? 'producer' : 'merchant';
  const text = newApiKey(kind, environment, random.bytes(KEY_BYTES));
  const key: ApiKey = {
    keyId: random.uuid(),
    kind,
    merchantId,
    hash: hashApiKey(text),
    hint: apiKeyHint(text),
    name,
    createdAt: Math.floor(clock.wall()),
    revokedAt: null,
    lastUsedAt: null,
    ...(rights.types && { types: rights.types }),
    ...(rights.merchants && { merchants: rights.merchants }),
  };
  await store.keys.create(key, actor);
  return { ...keyJson(key), key: text };
}

type Rights = Parameters<ApiKeys['setRights']>[1];

/** Returns the lists that were given, null for all. */
async function rightsOf(
  { store }: OperatorDeps,
  { types, merchants }: Given<typeof RIGHTS>,
): Promise<Rights> {
  if (merchants && !merchants.includes(ALL)) {
    const known = (await store.merchants.list()).map(({ merchantId }) => merchantId);
    const stranger = merchants.find((merchant) => !known.includes(merchant));
    if (stranger !== undefined)
      throw new OperatorError(
        `merchants: there is no merchant "${stranger}"${didYouMean(stranger, known)}: see merchants list`,
      );
  }
  return {
    ...(types && { types: types.includes(ALL) ? null : (types as readonly EventType[]) }),
    ...(merchants && { merchants: merchants.includes(ALL) ? null : merchants }),
  };
}

function allAlone(lists: Given<typeof RIGHTS>): string | undefined {
  const names = (['types', 'merchants'] as const).filter(
    (list) => lists[list]?.includes(ALL) && lists[list].length > 1,
  );
  return names.length === 0 ? undefined : `${names.join(', ')}: ${ALL} stands alone`;
}

function unknownType(name: string): string | undefined {
  if (name === ALL || EVENT_TYPES.some((type) => type === name)) return undefined;
  return `"${name}" is not an event type${didYouMean(name, EVENT_TYPES)}; known: ${EVENT_TYPES.join(', ')}`;
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
