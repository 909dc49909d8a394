import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { apiKeyHint, hashApiKey, newApiKey } from '../../domain/api-key.ts';
import { isUuid } from '../../domain/ids.ts';
import type { ApiKey, Store } from '../../store/store.ts';
import { type Arguments, type Command, flag, type OperatorDeps, OperatorError, text } from './arguments.ts';
import { MAINTENANCE_COMMANDS } from './maintenance.ts';
import { REPLAY_COMMANDS } from './replays.ts';

export { type Arguments, type OperatorDeps, OperatorError } from './arguments.ts';

const KEY_BYTES = 32;
const PATH_CHARACTERS_MAX = 4096;

const COMMANDS = {
  'merchants-create': async ({ store, random }, given) => {
    const merchantId = given.id === undefined ? random.uuid() : text(given, 'id');
    if (!isUuid(merchantId)) throw new OperatorError(`id: "${merchantId}" is not a UUID`);
    if (await store.merchants.get(merchantId))
      throw new OperatorError(`merchant ${merchantId} exists already`);
    return store.merchants.create({
      merchantId,
      name: text(given, 'name'),
      senderAccountDetails: flag(given, 'senderAccountDetails') ?? false,
    });
  },
  'merchants-list': ({ store }) => store.merchants.list(),
  'merchants-pause': ({ store }, given) => updated(store, given, { state: 'paused' }),
  'merchants-resume': ({ store }, given) => updated(store, given, { state: 'active' }),
  'merchants-set': ({ store }, given) => {
    const name = given.name === undefined ? undefined : text(given, 'name');
    const senderAccountDetails = flag(given, 'senderAccountDetails');
    if (name === undefined && senderAccountDetails === undefined) {
      throw new OperatorError('nothing to set: give --name or --sender-account-details');
    }
    return updated(store, given, {
      ...(name === undefined ? {} : { name }),
      ...(senderAccountDetails === undefined ? {} : { senderAccountDetails }),
    });
  },
  'keys-create': createKey,
  'keys-list': async ({ store }) => (await store.keys.list()).map(keyJson),
  'keys-revoke': async ({ store, clock }, given) => {
    const keyId = text(given, 'id');
    const at = Math.floor(clock.wall());
    if (await store.keys.revoke(keyId, at)) return { keyId, revokedAt: timestamp(at) };
    throw new OperatorError(`there is no key ${keyId} in use: see keys list`);
  },
  'store-backup': async ({ store }, given) => {
    const to = text(given, 'to', PATH_CHARACTERS_MAX);
    const { bytes } = await store.backup(to).catch((error: Error) => {
      throw new OperatorError(error.message);
    });
    return { to, bytes };
  },
  ...MAINTENANCE_COMMANDS,
  ...REPLAY_COMMANDS,
} as const satisfies Record<string, Command>;

export type OperatorCommand = keyof typeof COMMANDS;
const OPERATOR_COMMANDS = Object.keys(COMMANDS) as OperatorCommand[];

/** Runs one command on the store. Throws OperatorError when it cannot be carried out. */
export async function runOperatorCommand(
  deps: OperatorDeps,
  name: string,
  given: Arguments,
): Promise<unknown> {
  const command = OPERATOR_COMMANDS.find((candidate) => candidate === name);
  if (command === undefined)
    throw new OperatorError(`there is no command "${name}"; there are ${OPERATOR_COMMANDS.join(', ')}`);
  return COMMANDS[command](deps, given);
}

/** Creates a key. Only this response contains it: the store has its hash. */
async function createKey(
  { store, clock, random, environment }: OperatorDeps,
  given: Arguments,
): Promise<unknown> {
  const isProducer = flag(given, 'producer') ?? false;
  if (isProducer === (given.merchant !== undefined)) {
    throw new OperatorError('a key is for one merchant (--merchant <id>) or for producers (--producer)');
  }
  const merchantId = isProducer ? null : text(given, 'merchant');
  if (merchantId !== null && !(await store.merchants.get(merchantId))) throw unknownMerchant(merchantId);
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
  };
  await store.keys.create(key);
  return { ...keyJson(key), key: text32 };
}

function keyJson(key: ApiKey) {
  const { keyId, kind, merchantId, name, hint } = key;
  return {
    keyId,
    kind,
    merchantId,
    name,
    hint,
    createdAt: timestamp(key.createdAt),
    revokedAt: timestampOrNull(key.revokedAt),
    lastUsedAt: timestampOrNull(key.lastUsedAt),
  };
}

async function updated(
  store: OperatorDeps['store'],
  given: Arguments,
  change: Parameters<Store['merchants']['update']>[1],
): Promise<unknown> {
  const merchantId = text(given, 'id');
  const merchant = await store.merchants.update(merchantId, change);
  if (merchant === undefined) throw unknownMerchant(merchantId);
  return merchant;
}

function unknownMerchant(merchantId: string): OperatorError {
  return new OperatorError(`there is no merchant ${merchantId}: see merchants list`);
}
