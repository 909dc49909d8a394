import type { DirectoryChange } from '../../domain/directory.ts';
import type { Merchant } from '../../domain/merchant.ts';
import type { ApiKey } from '../store.ts';
import { type SealColumns, sealOf } from './record-seals.ts';

export const MERCHANT_COLUMNS =
  'merchant_id, name, state, sender_account_details, version, seal_key_id, seal_version, seal_mac';

export interface MerchantRow extends SealColumns {
  readonly merchant_id: string;
  readonly name: string;
  readonly state: string;
  readonly sender_account_details: number;
  readonly version: number;
}

export function toMerchant(row: MerchantRow): Merchant {
  return {
    merchantId: row.merchant_id,
    name: row.name,
    state: row.state as Merchant['state'],
    senderAccountDetails: row.sender_account_details === 1,
    version: row.version,
  };
}

/** Returns the directory change of a merchant's present state. */
export function toMerchantChange(row: MerchantRow): DirectoryChange {
  const value = toMerchant(row);
  return { kind: 'merchant', id: value.merchantId, version: value.version, value, ...sealOf(row) };
}

export interface ApiKeyRow {
  readonly key_id: string;
  readonly kind: string;
  readonly merchant_id: string | null;
  readonly hash: Uint8Array;
  readonly hint: string;
  readonly name: string | null;
  readonly created_at: number;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
  /** JSON; null: all. */
  readonly types: string | null;
  readonly merchants: string | null;
  /** JSON; null: of a key that has none. */
  readonly scopes: string | null;
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    keyId: row.key_id,
    kind: row.kind as ApiKey['kind'],
    merchantId: row.merchant_id,
    hash: row.hash,
    hint: row.hint,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    ...(row.types === null ? {} : { types: JSON.parse(row.types) }),
    ...(row.merchants === null ? {} : { merchants: JSON.parse(row.merchants) }),
    ...(row.scopes === null ? {} : { scopes: JSON.parse(row.scopes) }),
  };
}

/** Returns the text of the columns `types`, `merchants` and `scopes`. */
export function listText(list: readonly string[] | null | undefined): string | null {
  return list ? JSON.stringify(list) : null;
}

/** The parts of a key that the audit shows: a list that is not there is not mentioned. */
export function auditedKey(row: ApiKeyRow): Readonly<Record<string, unknown>> {
  const { keyId, hint, name, types, merchants, scopes } = toApiKey(row);
  return {
    ...{ keyId, hint, name },
    ...(types && { types }),
    ...(merchants && { merchants }),
    ...(scopes && { scopes }),
  };
}
