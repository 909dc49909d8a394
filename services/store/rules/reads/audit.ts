import type { Audit, AuditEntry } from '../../maintenance.ts';
import {
  type AuditRow,
  auditCursor,
  KEY_ACTOR,
  parseAuditCursor,
  toAuditEntry,
} from '../../rows/audit-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from './page.ts';

/** Reads a page of the audit, newest first. */
export async function audit(
  { dialect, rows }: Statements,
  { merchantId, endpointId, requestId, since, limit, after }: Parameters<Audit['list']>[0],
): Promise<(AuditEntry & { readonly cursor: string })[]> {
  const values: unknown[] = [Math.min(limit, PAGE_MAX)];
  const value = (each: unknown) => `$${values.push(each)}`;
  const conditions = ['TRUE'];
  if (requestId !== undefined) conditions.push(`a.request_id = ${value(requestId)}`);
  // The narrower of the two; the other is checked in its rows.
  if (endpointId !== undefined) conditions.push(`a.endpoint_uuid = ${value(endpointId)}`);
  if (merchantId !== undefined) {
    const column = endpointId === undefined ? 'a.merchant_id' : dialect.notByIndex('a.merchant_id');
    conditions.push(`${column} = ${value(merchantId)}`);
  }
  if (since !== undefined) conditions.push(`a.at >= ${value(since)}`);
  if (after !== undefined) {
    const { at, auditId } = parseAuditCursor(after);
    conditions.push(`(a.at, a.audit_id) < (${value(at)}, ${value(auditId)})`);
  }
  const found = await rows<AuditRow>(
    `SELECT a.*, k.hint, k.name FROM audit a
     LEFT JOIN api_key k ON k.key_id = substr(a.actor, ${KEY_ACTOR.length + 1})
     WHERE ${conditions.join(' AND ')} ORDER BY a.at DESC, a.audit_id DESC LIMIT $1`,
    values,
  );
  return found.map((row) => ({ ...toAuditEntry(row), cursor: auditCursor(row) }));
}
