import { apiKeyHint, hashApiKey, type KeyKind, newApiKey } from '../domain/api-key.ts';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import type { Actor, AnswerToStore } from '../store/change.ts';
import type { ApiKey, Store } from '../store/store.ts';
import { findOpenMerchant } from './merchants.ts';

const KEY_BYTES = 32;

interface Deps {
  readonly store: Pick<Store, 'keys' | 'merchants'>;
  readonly clock: Pick<Clock, 'wall'>;
  readonly random: Random;
  readonly environment: Parameters<typeof newApiKey>[1];
  readonly actor: Actor;
}

/** The kind, owner and rights of a key that is to be made. */
export interface KeyRequest extends Pick<ApiKey, 'types' | 'merchants' | 'scopes'> {
  readonly kind: KeyKind;
  /** Of a merchant's key. */
  readonly merchantId: string | null;
  readonly name: string | null;
}

/** A key as it is made. `text` is shown once: the store has its hash. */
export interface MadeKey {
  readonly key: ApiKey;
  readonly text: string;
}

/**
 * Creates a key. `answer` returns what is stored for a request that comes again. Throws Refused when its merchant is unknown
 * or closed.
 */
export async function createKey(
  { store, clock, random, environment, actor }: Deps,
  { kind, merchantId, name, ...rights }: KeyRequest,
  answer?: (made: MadeKey) => AnswerToStore | undefined,
): Promise<MadeKey> {
  if (merchantId !== null) await findOpenMerchant({ store }, merchantId);
  const text = newApiKey(kind, environment, random.bytes(KEY_BYTES));
  const key: ApiKey = {
    ...{ keyId: random.uuid(), kind, merchantId, name },
    ...{ hash: hashApiKey(text), hint: apiKeyHint(text) },
    ...{ createdAt: Math.floor(clock.wall()), revokedAt: null, lastUsedAt: null },
    ...rights,
  };
  await store.keys.create(key, actor, answer?.({ key, text }));
  return { key, text };
}
