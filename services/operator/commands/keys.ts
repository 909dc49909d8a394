import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { PLATFORM_SCOPES, type PlatformScope, SCOPES_DEFAULT } from '../../domain/access/platform-scopes.ts';
import { environmentOfKey } from '../../domain/api-key.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import { createKey } from '../../management/keys.ts';
import { didYouMean } from '../../messages/did-you-mean.ts';
import type { ApiKey, ApiKeys } from '../../store/store.ts';
import type { Arguments, Given } from './arguments.ts';
import { type OperatorDeps, on } from './command.ts';
import { OperatorError } from './operator-error.ts';

/** The API keys of merchants, producers and the platform. */

/** In the place of a list: events of every type, of every merchant, or every scope. */
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
  platform: { type: 'flag', describe: 'A key of the platform’s backend, for the platform API' },
  scopes: {
    type: 'names',
    describe: `What a platform’s key may do, or all (${SCOPES_DEFAULT.join(', ')})`,
    check: unknownScope,
  },
  name: { type: 'text', describe: 'What it is for, to tell keys apart' },
  ...RIGHTS,
} as const satisfies Arguments;

export const KEY_COMMANDS = {
  'keys create': on('store', {
    describe: 'Create a key; it is shown only once',
    args: CREATED,
    refuse: (given) => {
      const { producer = false, platform = false, merchant } = given;
      if ([producer, platform, merchant !== undefined].filter(Boolean).length !== 1)
        return 'a key is for one merchant (--merchant <id>), for producers (--producer), or for the platform (--platform)';
      if (!producer && (given.types ?? given.merchants))
        return '--types and --merchants say what a producer may publish: give --producer';
      if (!platform && given.scopes) return '--scopes says what the platform may do: give --platform';
      return allAlone(given);
    },
    run: create,
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

/** Creates a key. Only this response contains it. */
async function create(deps: OperatorDeps, given: Given<typeof CREATED>) {
  const { merchant: merchantId = null, name = null, scopes } = given;
  const rights = await rightsOf(deps, given);
  const kind = merchantId !== null ? 'merchant' : given.platform ? 'platform' : 'producer';
  const { key, text } = await createKey(deps, {
    ...{ kind, merchantId, name },
    ...(rights.types && { types: rights.types }),
    ...(rights.merchants && { merchants: rights.merchants }),
    ...(kind === 'platform' && { scopes: scopesOf(scopes) }),
  });
  return { ...keyJson(key), key: text };
}

function scopesOf(names: readonly string[] | undefined): readonly PlatformScope[] {
  if (names === undefined) return SCOPES_DEFAULT;
  return names.includes(ALL) ? PLATFORM_SCOPES : (names as readonly PlatformScope[]);
}

function unknownScope(name: string): string | undefined {
  if (name === ALL || PLATFORM_SCOPES.some((scope) => scope === name)) return undefined;
  return `"${name}" is not a scope${didYouMean(name, PLATFORM_SCOPES)}; known: ${PLATFORM_SCOPES.join(', ')}`;
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

function allAlone(
  lists: Given<typeof RIGHTS> & Partial<Pick<Given<typeof CREATED>, 'scopes'>>,
): string | undefined {
  const names = (['types', 'merchants', 'scopes'] as const).filter(
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
    scopes: kind === 'platform' ? (key.scopes ?? SCOPES_DEFAULT) : null,
    createdAt: timestamp(key.createdAt),
    revokedAt: timestampOrNull(key.revokedAt),
    lastUsedAt: timestampOrNull(key.lastUsedAt),
  };
}
