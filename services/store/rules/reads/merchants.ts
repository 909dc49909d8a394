import type { ApiKeys, Merchants } from '../../merchants.ts';
import {
  type ApiKeyRow,
  MERCHANT_COLUMNS,
  type MerchantRow,
  toApiKey,
  toMerchant,
} from '../../rows/merchant-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from './page.ts';

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

export async function merchantPage(
  { rows }: Statements,
  { limit, after = 0, state }: Parameters<Merchants['page']>[0],
): ReturnType<Merchants['page']> {
  const found = await rows<MerchantRow & { readonly seq: number }>(
    `SELECT seq, ${MERCHANT_COLUMNS} FROM merchant WHERE seq > $2 AND state = coalesce($3, state) ORDER BY seq LIMIT $1`,
    [Math.min(limit, PAGE_MAX), after, state ?? null],
  );
  return found.map((row) => ({ ...toMerchant(row), seq: row.seq }));
}

export async function keyByHash({ first }: Statements, hash: Uint8Array): ReturnType<ApiKeys['findByHash']> {
  const row = await first<ApiKeyRow>('SELECT * FROM api_key WHERE hash = $1', [Buffer.from(hash)]);
  return row && toApiKey(row);
}

export async function keyById({ first }: Statements, keyId: string): ReturnType<ApiKeys['get']> {
  const row = await first<ApiKeyRow>('SELECT * FROM api_key WHERE key_id = $1', [keyId]);
  return row && toApiKey(row);
}

export async function keyPage(
  { rows }: Statements,
  ...[merchantId, { limit, after = 0 }]: Parameters<ApiKeys['page']>
): ReturnType<ApiKeys['page']> {
  const found = await rows<ApiKeyRow & { readonly seq: number }>(
    'SELECT * FROM api_key WHERE merchant_id = $2 AND seq > $3 ORDER BY seq LIMIT $1',
    [Math.min(limit, PAGE_MAX), merchantId, after],
  );
  return found.map((row) => ({ ...toApiKey(row), seq: row.seq }));
}

export async function keys({ rows }: Statements): ReturnType<ApiKeys['list']> {
  const found = await rows<ApiKeyRow>('SELECT * FROM api_key ORDER BY seq');
  return found.map(toApiKey);
}
