import type { Database } from 'better-sqlite3';
import { type Actor, CursorInvalid } from '../../change.ts';
import type { Audit, AuditEntry } from '../../maintenance.ts';

type ListOptions = Parameters<Audit['list']>[0];

const PAGE_MAX = 1000;
const KEY_ACTOR = 'api_key:';

interface AuditRow {
  readonly audit_id: number;
  readonly at: number;
  readonly actor: string;
  readonly merchant_id: string | null;
  readonly endpoint_uuid: string | null;
  readonly action: string;
  readonly details: string;
  readonly hint: string | null;
  readonly name: string | null;
}

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
      ...(after === undefined ? {} : parseCursor(after)),
    }) as AuditRow[];
    return rows.map((row) => ({ ...toEntry(row), cursor: `${row.at}.${row.audit_id}` }));
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

function toEntry(row: AuditRow): AuditEntry {
  return {
    at: row.at,
    actor: toActor(row.actor),
    key: row.hint === null ? null : { hint: row.hint, name: row.name },
    merchantId: row.merchant_id,
    endpointId: row.endpoint_uuid,
    action: row.action,
    details: JSON.parse(row.details),
  };
}

function toActor(actor: string): Actor {
  if (actor.startsWith(KEY_ACTOR)) return { kind: 'api_key', keyId: actor.slice(KEY_ACTOR.length) };
  return { kind: actor === 'operator' ? 'operator' : 'system' };
}

function parseCursor(cursor: string): { readonly at: number; readonly auditId: number } {
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor);
  if (!parts) throw new CursorInvalid('the cursor does not belong to the audit log');
  return { at: Number(parts[1]), auditId: Number(parts[2]) };
}
