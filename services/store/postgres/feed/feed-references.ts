import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import type {
  AttemptOfDelivery,
  AuditOfEndpoint,
  DeliveryHead,
  EventHead,
  FeedReference,
  FeedRow,
} from '../../log/feed-contents.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import type { TraceLine } from '../../log/trace-lines.ts';
import type { Statements } from '../../sql/statements.ts';
import { idOf } from '../client/packed-id.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { LogNames } from '../log/log-names.ts';

export type RowOfFeed = FeedRow & {
  readonly event_id: Buffer | null;
  readonly delivery_id: Buffer | null;
  readonly ref: number | null;
  readonly ref_at: number | null;
};

/** The place of a row in its log. */
export interface RowPlace {
  readonly seq: number;
  readonly createdAt: number;
  readonly isRemoved: boolean;
}

type EventWithLines = EventHead & RowPlace & { readonly lines: readonly TraceLine[] };
type DeliveryFound = DeliveryHead & RowPlace & { readonly attemptsMax: number };
type AttemptPart = Omit<AttemptOfDelivery, keyof DeliveryHead | 'attemptsMax'>;

/** The things that the rows of a page refer to, without those that were deleted. */
export class References {
  readonly events = new Map<string, EventWithLines>();
  readonly deliveries = new Map<string, DeliveryFound>();
  readonly attempts = new Map<number, AttemptPart>();
  readonly audits = new Map<number, AuditOfEndpoint>();

  of({ kind, event_id, delivery_id, ref }: RowOfFeed): FeedReference {
    if (kind === FEED_KIND.endpoint) return optional('audit', this.audits.get(ref ?? 0));
    if (event_id !== null) return optional('event', this.events.get(idOf(event_id)));
    const delivery = this.deliveries.get(delivery_id === null ? '' : idOf(delivery_id));
    if (kind !== FEED_KIND.attempt) return optional('delivery', delivery);
    const attempt = this.attempts.get(ref ?? 0);
    return optional('attempt', delivery && attempt && { ...delivery, ...attempt });
  }
}

function optional<Name extends keyof FeedReference>(name: Name, value: FeedReference[Name]): FeedReference {
  return value === undefined ? {} : { [name]: value };
}

interface Deps {
  readonly database: PostgresDatabase;
  readonly names: LogNames;
}

/** Reads all of it, one statement for each kind; the names of endpoints too. */
export async function readReferences(
  { database, names }: Deps,
  merchant: number,
  rows: readonly RowOfFeed[],
): Promise<References> {
  const found = new References();
  const endpoints: number[] = [];
  const deliveryRows: DeliveryRow[] = [];
  await database.read(async (statements) => {
    for (const event of await readEvents(statements, merchant, rows)) {
      found.events.set(event.eventId, event);
      endpoints.push(...event.lines.map(([endpoint]) => endpoint));
    }
    deliveryRows.push(...(await readDeliveries(statements, rows)));
    endpoints.push(...deliveryRows.map(({ endpoint }) => endpoint));
    for (const { attempt_id, ...attempt } of await readAttempts(statements, rows))
      found.attempts.set(attempt_id, { ...attempt, number: attempt_id % ATTEMPTS_PER_DELIVERY });
    for (const { audit_id, ...audit } of await readAudits(statements, rows))
      found.audits.set(audit_id, audit);
  });
  await names.readIds(endpoints);
  for (const row of deliveryRows) {
    const head = toDeliveryHead(row, names.numbers.endpointId(row.endpoint));
    found.deliveries.set(head.deliveryId, head);
  }
  return found;
}

/** Returns the first and last time of what the rows refer to, so that other leaves are not searched. */
function spanOf(rows: readonly RowOfFeed[]): [from: number, to: number] {
  const times = rows.flatMap(({ ref_at }) => ref_at ?? []);
  return [Math.min(...times, Number.MAX_SAFE_INTEGER), Math.max(...times, 0)];
}

interface EventRow {
  readonly seq: number;
  readonly created_at: number;
  readonly event_id: Buffer;
  readonly entity_id: Buffer;
  readonly subject_id: Buffer | null;
  readonly sequence: number;
  readonly type: number;
  readonly sub_type: string;
  readonly trace: string;
  readonly removed_at: number | null;
}

async function readEvents(
  statements: Statements,
  merchant: number,
  rows: readonly RowOfFeed[],
): Promise<EventWithLines[]> {
  const wanted = rows.filter(({ event_id }) => event_id !== null);
  if (wanted.length === 0) return [];
  const found = await statements.rows<EventRow>(
    `SELECT seq, created_at, removed_at, event_id, entity_id, subject_id, sequence, type, sub_type, trace FROM event
     WHERE event_id = ANY($1::bytea[]) AND merchant = $2 AND created_at >= $3 AND created_at <= $4`,
    [wanted.map(({ event_id }) => event_id), merchant, ...spanOf(wanted)],
  );
  return found.map((row) => ({
    seq: row.seq,
    createdAt: row.created_at,
    isRemoved: row.removed_at !== null,
    eventId: idOf(row.event_id),
    entityId: idOf(row.entity_id),
    subjectId: row.subject_id && idOf(row.subject_id),
    sequence: row.sequence,
    type: row.type,
    subType: row.sub_type,
    lines: JSON.parse(row.trace) as TraceLine[],
  }));
}

interface DeliveryRow extends Omit<EventRow, 'trace' | 'removed_at'> {
  readonly removed: number;
  readonly delivery_id: Buffer;
  readonly endpoint: number;
  readonly api_version: number;
  readonly trigger: number;
  readonly attempts_max: number;
}

async function readDeliveries(
  statements: Statements,
  rows: readonly RowOfFeed[],
): Promise<readonly DeliveryRow[]> {
  const wanted = rows.filter(({ delivery_id }) => delivery_id !== null);
  if (wanted.length === 0) return [];
  return statements.rows<DeliveryRow>(
    `SELECT seq, created_at, removed, delivery_id, event_id, entity_id, subject_id, sequence, type, sub_type, endpoint,
     api_version, trigger, attempts_max FROM delivery
     WHERE delivery_id = ANY($1::bytea[]) AND created_at >= $2 AND created_at <= $3`,
    [wanted.map(({ delivery_id }) => delivery_id), ...spanOf(wanted)],
  );
}

function toDeliveryHead(row: DeliveryRow, endpointId: string): DeliveryFound {
  return {
    seq: row.seq,
    createdAt: row.created_at,
    isRemoved: row.removed === 1,
    deliveryId: idOf(row.delivery_id),
    endpointId,
    eventId: idOf(row.event_id),
    entityId: idOf(row.entity_id),
    subjectId: row.subject_id && idOf(row.subject_id),
    sequence: row.sequence,
    type: row.type,
    subType: row.sub_type,
    apiVersion: row.api_version,
    trigger: row.trigger,
    attemptsMax: row.attempts_max,
  };
}

async function readAttempts(statements: Statements, rows: readonly RowOfFeed[]) {
  const wanted = rows.filter(({ kind }) => kind === FEED_KIND.attempt);
  if (wanted.length === 0) return [];
  return statements.rows<Omit<AttemptPart, 'number'> & { readonly attempt_id: number }>(
    `SELECT attempt_id, started_at AS "startedAt", duration_ms AS "durationMs", response_status AS "responseStatus",
     failure_code AS "failureCode", failure_detail AS "failureDetail", next_attempt_at AS "nextAttemptAt"
     FROM attempt WHERE attempt_id = ANY($1::bigint[]) AND created_at >= $2 AND created_at <= $3`,
    [wanted.map(({ ref }) => ref), ...spanOf(wanted)],
  );
}

async function readAudits(statements: Statements, rows: readonly RowOfFeed[]) {
  const wanted = rows.filter(({ kind }) => kind === FEED_KIND.endpoint);
  if (wanted.length === 0) return [];
  return statements.rows<AuditOfEndpoint & { readonly audit_id: number }>(
    `SELECT audit_id, endpoint_uuid AS "endpointId", action, details FROM audit WHERE audit_id = ANY($1::bigint[])`,
    [wanted.map(({ ref }) => ref)],
  );
}
