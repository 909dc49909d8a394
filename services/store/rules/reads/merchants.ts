import type { ApiKeys, Merchants } from '../../merchants.ts';
import {
  type ApiKeyRow,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toApiKey,
  toMerchant,
} from '../../rows/merchant-rows.ts';
import type { Statements } from '../../sql/statements.ts';

/* Reads of merchants and API keys. */

export async function merchant({ first }: Statements, merchantId: string): ReturnType<Merchants['get']> {
  const row = await first<MerchantRow>(`SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1`, [
    merchantId,
  ]);
  return row && toMerchant(row);
}

export async function merchants({ rows }: Statements): ReturnType<Merchants['list']> {
  const found = await rows<MerchantRow>(`SELECT ${MERCHANT_COLUMNS} FROM merchant ORDER BY seq`);
  return found.map(toMerchant);
}

export async function keyByHash({ first }: Statements, hash: Uint8Array): ReturnType<ApiKeys['findByHash']> {
  const row = await first<ApiKeyRow>('SELECT * FROM api_key WHERE hash = $1', [Buffer.from(hash)]);
  return row && toApiKey(row);
}

export async function keys({ rows }: Statements): ReturnType<ApiKeys['list']> {
  const found = await rows<ApiKeyRow>('SELECT * FROM api_key ORDER BY seq');
  return found.map(toApiKey);
}
