import type { Database } from 'better-sqlite3';
import type { Audit, AuditEntry } from '../../maintenance.ts';
import {
  type AuditRow,
  auditCursor,
  KEY_ACTOR,
  parseAuditCursor,
  toAuditEntry,
} from '../../rows/audit-rows.ts';

type ListOptions = Parameters<Audit['list']>[0];

const PAGE_MAX = 1000;

/** Reads the audit, newest first. */
export class AuditReads {
  readonly #db: Database;
  /** One statement per set of filters, so that each uses the index that fits. */
  readonly #lists = new Map<string, ReturnType<Database['prepare']>>();

  constructor(db: Database) {
    this.#db = db;
  }

  list(options: ListOptions): (AuditEntry & { readonly cursor: string })[] {
    const { merchantId, endpointId, since, after } = options;
    const sql = AuditReads.listSql(options, after !== undefined);
    const statement = this.#lists.get(sql) ?? this.#db.prepare(sql);
    this.#lists.set(sql, statement);
    const rows = statement.all({
      limit: Math.min(options.limit, PAGE_MAX),
      ...(merchantId === undefined ? {} : { merchantId }),
      ...(endpointId === undefined ? {} : { endpointId }),
      ...(since === undefined ? {} : { since }),
      ...(after === undefined ? {} : parseAuditCursor(after)),
    }) as AuditRow[];
    return rows.map((row) => ({ ...toAuditEntry(row), cursor: auditCursor(row) }));
  }

  /** Returns the SQL of a page with these filters; exposed so that its query plan can be checked. */
  static listSql(options: Omit<ListOptions, 'limit' | 'after'>, isContinued: boolean): string {
    const conditions = ['TRUE'];
    // The narrower of the two; the other is checked in its rows.
    if (options.endpointId !== undefined) conditions.push('a.endpoint_uuid = :endpointId');
    if (options.merchantId !== undefined) {
      conditions.push(`${options.endpointId === undefined ? '' : '+'}a.merchant_id = :merchantId`);
    }
    if (options.since !== undefined) conditions.push('a.at >= :since');
    if (isContinued) conditions.push('a.at <= :at AND (a.at < :at OR a.audit_id < :auditId)');
    return `SELECT a.*, k.hint, k.name FROM audit a
      LEFT JOIN api_key k ON k.key_id = substr(a.actor, ${KEY_ACTOR.length + 1})
      WHERE ${conditions.join(' AND ')} ORDER BY a.at DESC, a.audit_id DESC LIMIT :limit`;
  }
}
