import { type Actor, CursorInvalid } from '../change.ts';
import type { AuditEntry } from '../maintenance.ts';

/** Before the key's id, in the column `actor`. */
export const KEY_ACTOR = 'api_key:';
/** Before the id of a session of the console. */
const PORTAL_ACTOR = 'portal:';

/** An audit entry with its key's hint and name, as each engine selects it. */
export interface AuditRow {
  readonly audit_id: number;
  readonly at: number;
  readonly actor: string;
  /** Of an operator, of a person in the console, or for whom the platform asked; null: no name was given. */
  readonly person: string | null;
  /** Of an API key or a session of the console; null: it was not kept. */
  readonly request_id: string | null;
  readonly merchant_id: string | null;
  readonly endpoint_uuid: string | null;
  readonly action: string;
  readonly details: string;
  readonly hint: string | null;
  readonly name: string | null;
}

export function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    at: row.at,
    actor: toActor(row),
    key: row.hint === null ? null : { hint: row.hint, name: row.name },
    merchantId: row.merchant_id,
    endpointId: row.endpoint_uuid,
    action: row.action,
    details: JSON.parse(row.details),
  };
}

function toActor({ actor, person, request_id }: AuditRow): Actor {
  const named = person === null ? {} : { person };
  const asked = { ...named, ...(request_id === null ? {} : { requestId: request_id }) };
  if (actor.startsWith(KEY_ACTOR)) return { kind: 'api_key', keyId: actor.slice(KEY_ACTOR.length), ...asked };
  if (actor.startsWith(PORTAL_ACTOR))
    return { kind: 'portal', sessionId: actor.slice(PORTAL_ACTOR.length), ...asked };
  return actor === 'operator' ? { kind: 'operator', ...named } : { kind: 'system' };
}

/** Throws CursorInvalid. */
export function parseAuditCursor(cursor: string): { readonly at: number; readonly auditId: number } {
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor);
  if (!parts) throw new CursorInvalid('the cursor does not belong to the audit log');
  return { at: Number(parts[1]), auditId: Number(parts[2]) };
}

export function auditCursor({ at, audit_id }: AuditRow): string {
  return `${at}.${audit_id}`;
}

/** Returns the text of the column `actor`. */
export function actorText(actor: Actor): string {
  if (actor.kind === 'portal') return `${PORTAL_ACTOR}${actor.sessionId}`;
  return actor.kind === 'api_key' ? `${KEY_ACTOR}${actor.keyId}` : actor.kind;
}
