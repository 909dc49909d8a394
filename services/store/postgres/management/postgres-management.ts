import type { Clock } from '../../../process/clock.ts';
import { OPERATOR } from '../../change.ts';
import type { Endpoints } from '../../endpoints.ts';
import type { ApiKeys, Merchants } from '../../merchants.ts';
import type { Reads } from '../../rules/reads.ts';
import type { UsedKeys } from '../../used-keys.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { createEndpoint, removeEndpoint, rotateEndpoint, updateEndpoint } from './endpoint-writes.ts';
import { setLegacyEndpoint } from './legacy-endpoint-writes.ts';
import { lockMerchant } from './merchant-lock.ts';
import { createKey, createMerchant, revokeKey, setKeyRights, updateMerchant } from './merchant-writes.ts';

interface Deps {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly leaves: Leaves;
  readonly reads: Reads;
}

export function makeMerchants({ database, clock, reads }: Omit<Deps, 'leaves'>): Merchants {
  return {
    ...reads.merchants,
    create: (merchant, actor = OPERATOR) =>
      database.transaction((tx) => createMerchant(tx, merchant, { at: clock.wall(), actor })),
    update: (merchantId, change, actor = OPERATOR) =>
      database.transaction((tx) => updateMerchant(tx, merchantId, change, { at: clock.wall(), actor })),
  };
}

export function makeKeys({ database, clock, reads }: Omit<Deps, 'leaves'>, used: UsedKeys): ApiKeys {
  return {
    ...reads.keys,
    create: (key, actor = OPERATOR) =>
      database.transaction((tx) => createKey(tx, key, { at: clock.wall(), actor })),
    revoke: (keyId, at, actor = OPERATOR) =>
      database.transaction((tx) => revokeKey(tx, keyId, { at, actor })),
    setRights: (...args) => database.transaction((tx) => setKeyRights(tx, ...args)),
    touch: (keyId, at) => used.add(keyId, at),
  };
}

export function makeEndpoints({ database, leaves, reads }: Omit<Deps, 'clock'>): Endpoints {
  /** Changes an endpoint of the merchant; no other process changes one of its endpoints meanwhile. */
  const change = async <T>(merchantId: string, at: number, work: (tx: Transaction) => Promise<T>) => {
    // The feed reports it with this time.
    await leaves.ensureAt(at);
    return database.transaction(async (tx) => {
      await lockMerchant(tx, merchantId);
      return work(tx);
    });
  };
  return {
    ...reads.endpoints,
    create: (endpoint, options) =>
      change(endpoint.merchantId, options.at, (tx) => createEndpoint(tx, endpoint, options)),
    update: (merchantId, uuid, wanted, options) =>
      change(merchantId, options.at, (tx) => updateEndpoint(tx, merchantId, uuid, wanted, options)),
    rotate: (merchantId, uuid, secret, options) =>
      change(merchantId, options.at, (tx) => rotateEndpoint(tx, merchantId, uuid, secret, options)),
    remove: (merchantId, uuid, options) =>
      change(merchantId, options.at, (tx) => removeEndpoint(tx, merchantId, uuid, options)),
    setLegacy: (merchantId, uuid, wanted, options) =>
      change(merchantId, options.at, (tx) => setLegacyEndpoint(tx, merchantId, uuid, wanted, options)),
  };
}
