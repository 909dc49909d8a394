import type { Audit, AuditEntry } from '../../maintenance.ts';
import {
  type AuditRow,
  auditCursor,
  KEY_ACTOR,
  parseAuditCursor,
  toAuditEntry,
} from '../../rows/audit-rows.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { addToAudit } from './outbox-writes.ts';

type ListOptions = Parameters<Audit['list']>[0];

const PAGE_MAX = 1000;

export function makeAudit(database: PostgresDatabase): Audit {
  return {
    add: (entry) => database.transaction((tx) => addToAudit(tx, entry)),
    list: async (options): Promise<(AuditEntry & { readonly cursor: string })[]> => {
      const [text, values] = auditQuery(options);
      const found = await database.read(({ rows }) => rows<AuditRow>(text, values));
      return found.map((row) => ({ ...toAuditEntry(row), cursor: auditCursor(row) }));
    },
  };
}

/** Returns the statement of a page with these filters. */
function auditQuery(options: ListOptions): [text: string, values: readonly unknown[]] {
  const { merchantId, endpointId, since, after } = options;
  const values: unknown[] = [Math.min(options.limit, PAGE_MAX)];
  const value = (each: unknown) => `$${values.push(each)}`;
  const conditions = ['TRUE'];
  if (endpointId !== undefined) conditions.push(`a.endpoint_uuid = ${value(endpointId)}`);
  if (merchantId !== undefined) conditions.push(`a.merchant_id = ${value(merchantId)}`);
  if (since !== undefined) conditions.push(`a.at >= ${value(since)}`);
  if (after !== undefined) {
    const { at, auditId } = parseAuditCursor(after);
    conditions.push(`(a.at, a.audit_id) < (${value(at)}, ${value(auditId)})`);
  }
  const text = `SELECT a.*, k.hint, k.name FROM audit a
    LEFT JOIN api_key k ON k.key_id = substr(a.actor, ${KEY_ACTOR.length + 1})
    WHERE ${conditions.join(' AND ')} ORDER BY a.at DESC, a.audit_id DESC LIMIT $1`;
  return [text, values];
}
