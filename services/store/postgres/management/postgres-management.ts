import type { Clock } from '../../../process/clock.ts';
import { OPERATOR } from '../../change.ts';
import type { Endpoints } from '../../endpoints.ts';
import type { ApiKeys, Merchants } from '../../merchants.ts';
import { type EndpointRow, toEndpointRecord } from '../../rows/endpoint-rows.ts';
import {
  type ApiKeyRow,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toApiKey,
  toMerchant,
} from '../../rows/merchant-rows.ts';
import type { UsedKeys } from '../../used-keys.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { createEndpoint, removeEndpoint, rotateEndpoint, updateEndpoint } from './endpoint-writes.ts';
import { setLegacyEndpoint } from './legacy-endpoint-writes.ts';
import { lockMerchant } from './merchant-lock.ts';
import { createKey, createMerchant, revokeKey, setKeyRights, updateMerchant } from './merchant-writes.ts';
import { SELECT_ENDPOINT } from './select-endpoint.ts';

const PAGE_MAX = 1000;

interface Deps {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly leaves: Leaves;
}

export function makeMerchants({ database, clock }: Omit<Deps, 'leaves'>): Merchants {
  return {
    create: (merchant, actor = OPERATOR) =>
      database.transaction((tx) => createMerchant(tx, merchant, { at: clock.wall(), actor })),
    update: (merchantId, change, actor = OPERATOR) =>
      database.transaction((tx) => updateMerchant(tx, merchantId, change, { at: clock.wall(), actor })),
    get: (merchantId) =>
      database.read(async ({ first }) => {
        const row = await first<MerchantRow>(
          `SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1`,
          [merchantId],
        );
        return row && toMerchant(row);
      }),
    list: () =>
      database.read(async ({ rows }) => {
        const found = await rows<MerchantRow>(`SELECT ${MERCHANT_COLUMNS} FROM merchant ORDER BY seq`);
        return found.map(toMerchant);
      }),
  };
}

export function makeKeys({ database, clock }: Omit<Deps, 'leaves'>, used: UsedKeys): ApiKeys {
  return {
    create: (key, actor = OPERATOR) =>
      database.transaction((tx) => createKey(tx, key, { at: clock.wall(), actor })),
    revoke: (keyId, at, actor = OPERATOR) =>
      database.transaction((tx) => revokeKey(tx, keyId, { at, actor })),
    setRights: (...args) => database.transaction((tx) => setKeyRights(tx, ...args)),
    findByHash: (hash) =>
      database.read(async ({ first }) => {
        const row = await first<ApiKeyRow>('SELECT * FROM api_key WHERE hash = $1', [Buffer.from(hash)]);
        return row && toApiKey(row);
      }),
    list: () =>
      database.read(async ({ rows }) => {
        const found = await rows<ApiKeyRow>('SELECT * FROM api_key ORDER BY seq');
        return found.map(toApiKey);
      }),
    touch: (keyId, at) => used.add(keyId, at),
  };
}

export function makeEndpoints({ database, leaves }: Pick<Deps, 'database' | 'leaves'>): Endpoints {
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
    get: (merchantId, uuid) =>
      database.read(async ({ first }) => {
        const row = await first<EndpointRow>(`${SELECT_ENDPOINT} AND e.uuid = $1 AND e.merchant_id = $2`, [
          uuid,
          merchantId,
        ]);
        return row && toEndpointRecord(row);
      }),
    list: (merchantId, options) =>
      database.read(async ({ rows }) =>
        (await rows<EndpointRow>(...listQuery(merchantId, options))).map(toEndpointRecord),
      ),
  };
}

/** Returns the statement of a page of endpoints. */
function listQuery(
  merchantId: string,
  { status, limit, after }: Parameters<Endpoints['list']>[1],
): [text: string, values: readonly unknown[]] {
  const text = `${SELECT_ENDPOINT} AND e.legacy = 0 AND e.merchant_id = $1
    ${status === undefined ? '' : 'AND e.status = $5'}
    AND (e.created_at, e.uuid) < ($2, $3) ORDER BY e.created_at DESC, e.uuid DESC LIMIT $4`;
  const { createdAt = Number.MAX_SAFE_INTEGER, uuid = '' } = after ?? {};
  const values = [merchantId, createdAt, uuid, Math.min(limit, PAGE_MAX)];
  return [text, status === undefined ? values : [...values, status]];
}
