import { Listeners } from '../../../process/listeners.ts';
import { EVENT_TYPE } from '../../log/codes.ts';
import { becauseOf, isWanted, parseReplayCursor, replayCursor } from '../../log/missed-page.ts';
import type { MissedEvent, NewReplay, ReplayRecord, ReplayScope, Replays } from '../../replays.ts';
import { type ReplayRow, toReplay } from '../../rows/replay-rows.ts';
import { idOf } from '../client/packed-id.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Statements, Transaction } from '../client/statements.ts';
import { NO_OUTBOX_ROW, storeAnswer } from '../management/answer-writes.ts';
import { addToAudit } from '../management/outbox-writes.ts';

/** Replays that ended this long ago are deleted, a few with each new one, so that the table does not grow for ever. */
const KEPT_MS = 365 * 24 * 3_600_000;
const EXPIRED_PER_REPLAY = 10;
const PAGE_MAX = 1000;
/** Endpoints examined in one page, most of which have missed nothing. */
const ENDPOINTS_MAX = 500;
const RUNNING_MAX = 1000;

export class PostgresReplays implements Replays {
  readonly #database: PostgresDatabase;
  readonly #listeners = new Listeners();

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** A transaction of this process that created a replay was committed. */
  added(): void {
    this.#listeners.call();
  }

  onAdded(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  create(...[replay, options]: Parameters<Replays['create']>): ReturnType<Replays['create']> {
    return this.#database.transaction((tx) => create(tx, replay, options));
  }

  async get(replayId: string): Promise<ReplayRecord | undefined> {
    const row = await this.#database.read(({ first }) =>
      first<ReplayRow>('SELECT * FROM replay WHERE replay_id = $1', [replayId]),
    );
    return row && toReplay(row);
  }

  async list({ endpointId, limit, after }: Parameters<Replays['list']>[0]) {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : parseReplayCursor(after);
    const rows = await this.#database.read((statements) =>
      statements.rows<ReplayRow>(
        `SELECT * FROM replay WHERE seq < $1 ${endpointId === undefined ? '' : 'AND endpoint_id = $3'}
         ORDER BY seq DESC LIMIT $2`,
        [before, Math.min(limit, PAGE_MAX), ...(endpointId === undefined ? [] : [endpointId])],
      ),
    );
    return rows.map((row) => ({ ...toReplay(row), cursor: replayCursor(row.seq) }));
  }

  async running(): Promise<readonly ReplayRecord[]> {
    const rows = await this.#database.read((statements) =>
      statements.rows<ReplayRow>(
        `SELECT * FROM replay WHERE status = 'running' ORDER BY seq LIMIT ${RUNNING_MAX}`,
      ),
    );
    return rows.map(toReplay);
  }

  async advance(replayId: string, step: Parameters<Replays['advance']>[1]): Promise<boolean> {
    const { from, place, published, leftOut } = step;
    const changed = await this.#database.transaction(({ change }) =>
      change(
        `UPDATE replay SET place = $2, published = published + $3, left_out = left_out + $4
         WHERE replay_id = $1 AND status = 'running' AND place IS NOT DISTINCT FROM $5`,
        [replayId, place, published, leftOut, from],
      ),
    );
    return changed > 0;
  }

  finish(replayId: string, end: Parameters<Replays['finish']>[1]): Promise<ReplayRecord | undefined> {
    return this.#database.transaction((tx) => finish(tx, replayId, end));
  }

  missed(...args: Parameters<Replays['missed']>): ReturnType<Replays['missed']> {
    return this.#database.read((statements) => missed(statements, ...args));
  }
}

async function create(
  tx: Transaction,
  replay: NewReplay,
  { at, actor, answer }: Parameters<Replays['create']>[1],
): ReturnType<Replays['create']> {
  const { replayId, merchantId, endpointId, only, since, until, types, count } = replay;
  const createdAt = Math.floor(at);
  const row = await tx.first<ReplayRow>(
    `INSERT INTO replay (replay_id, merchant_id, endpoint_id, kind, since, until, types, count, published, left_out,
     status, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 'running', $9)
     ON CONFLICT (coalesce(endpoint_id, ''), coalesce(merchant_id, '')) WHERE status = 'running' DO NOTHING
     RETURNING *`,
    [replayId, merchantId, endpointId, only, since, until, types && JSON.stringify(types), count, createdAt],
  );
  if (!row) {
    const running = await tx.first<{ readonly replay_id: string }>(
      `SELECT replay_id FROM replay WHERE status = 'running' AND endpoint_id IS NOT DISTINCT FROM $1
       AND merchant_id IS NOT DISTINCT FROM $2`,
      [endpointId, merchantId],
    );
    // It may have ended since: the caller asks again.
    return { kind: 'running', replayId: running?.replay_id ?? replayId };
  }
  await tx.change(
    `DELETE FROM replay WHERE seq IN (SELECT seq FROM replay ORDER BY seq LIMIT ${EXPIRED_PER_REPLAY})
     AND status <> 'running' AND created_at < $1`,
    [createdAt - KEPT_MS],
  );
  const details = { replayId, only, since, until, types, count };
  const endpoint = endpointId === null ? {} : { endpointId };
  await addToAudit(tx, { at, actor, merchantId, ...endpoint, action: 'replay.create', details });
  if (answer) await storeAnswer(tx, answer, NO_OUTBOX_ROW, at);
  tx.added('replay');
  return { kind: 'ok', record: toReplay(row) };
}

async function finish(
  tx: Transaction,
  replayId: string,
  { status, reason, at, actor }: Parameters<Replays['finish']>[1],
): Promise<ReplayRecord | undefined> {
  const row = await tx.first<ReplayRow>(
    `UPDATE replay SET status = $2, cancel_reason = $3, finished_at = $4
     WHERE replay_id = $1 AND status = 'running' RETURNING *`,
    [replayId, status, reason, Math.floor(at)],
  );
  if (!row) return undefined;
  const record = toReplay(row);
  if (status === 'cancelled') {
    const { merchantId, endpointId } = record;
    const endpoint = endpointId === null ? {} : { endpointId };
    const details = { replayId, reason };
    await addToAudit(tx, { at, actor, merchantId, ...endpoint, action: 'replay.cancel', details });
  }
  return record;
}

/** Where a page begins: an endpoint's row, and the missed event after which it starts. */
interface PageStart {
  readonly endpoint: number;
  readonly createdAt: number;
  /** The event's id as it is stored, in hexadecimal. */
  readonly event: string;
}

/** An endpoint and its number in the log; null when the log does not know it. */
interface ScopeEndpoint {
  readonly seq: number;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly logged: number | null;
}

interface MissedRow {
  readonly created_at: number;
  readonly event_id: Buffer;
  readonly delivery_id: Buffer | null;
  readonly type: number | null;
  readonly sub_type: string | null;
  readonly status: number | null;
}

async function missed(
  statements: Statements,
  scope: ReplayScope,
  place: string | null,
  limit: number,
): ReturnType<Replays['missed']> {
  const beginning = { endpoint: 0, createdAt: scope.since, event: '' };
  const from = place === null ? beginning : parsePlace(place);
  const endpoints = await endpointsFrom(statements, scope, from.endpoint);
  const events: MissedEvent[] = [];
  let next: PageStart = from;
  let left = Math.min(limit, PAGE_MAX);
  for (const endpoint of endpoints) {
    const start = endpoint.seq === from.endpoint ? from : { ...beginning, endpoint: endpoint.seq };
    const rows = await missedBy(statements, endpoint, start, scope.until, left);
    for (const row of rows) {
      const event = toMissed(row, endpoint);
      if (event && isWanted(event, scope)) events.push(event);
    }
    next = { ...start, endpoint: endpoint.seq, ...placeAfter(rows) };
    left -= rows.length;
    if (left === 0) return { events, next: formatPlace(next), isLast: false };
  }
  const isLast = scope.endpointId !== null || endpoints.length < ENDPOINTS_MAX;
  return { events, next: formatPlace(next), isLast };
}

function endpointsFrom(
  { rows }: Statements,
  { endpointId, merchantId }: ReplayScope,
  from: number,
): Promise<readonly ScopeEndpoint[]> {
  const select = (condition: string) => `SELECT e.seq, e.uuid AS "endpointId", e.merchant_id AS "merchantId",
    n.seq AS logged FROM endpoint e LEFT JOIN log_endpoint n ON n.endpoint_id = e.uuid
    WHERE e.deleted_at IS NULL AND ${condition} ORDER BY e.seq LIMIT ${ENDPOINTS_MAX}`;
  if (endpointId !== null) return rows(select('e.uuid = $1'), [endpointId]);
  if (merchantId === null) return rows(select("e.status = 'active' AND e.seq >= $1"), [from]);
  return rows(select("e.status = 'active' AND e.seq >= $1 AND e.merchant_id = $2"), [from, merchantId]);
}

async function missedBy(
  { rows }: Statements,
  { logged, merchantId }: ScopeEndpoint,
  { createdAt, event }: PageStart,
  until: number,
  limit: number,
): Promise<readonly MissedRow[]> {
  if (logged === null) return [];
  return rows<MissedRow>(MISSED, [logged, createdAt, Buffer.from(event, 'hex'), until, limit, merchantId]);
}

/** The page of missed events first: each is then looked up in its own leaf. */
const MISSED = `WITH page AS MATERIALIZED (
    SELECT created_at, event_id, delivery_id, delivery_at FROM missed
    WHERE endpoint = $1 AND created_at >= $2 AND created_at < $4 AND (created_at, event_id) > ($2, $3)
    ORDER BY created_at, event_id LIMIT $5
  )
  SELECT page.created_at, page.event_id, page.delivery_id, ev.type, ev.sub_type, d.status FROM page
  LEFT JOIN LATERAL (
    SELECT type, sub_type FROM event WHERE event.event_id = page.event_id AND event.created_at = page.created_at
    AND event.merchant = (SELECT seq FROM log_merchant WHERE merchant_id = $6)
  ) ev ON TRUE
  LEFT JOIN LATERAL (
    SELECT status FROM delivery WHERE delivery.delivery_id = page.delivery_id
    AND delivery.created_at = page.delivery_at
  ) d ON TRUE
  ORDER BY page.created_at, page.event_id`;

function placeAfter(rows: readonly MissedRow[]): Partial<PageStart> {
  const last = rows.at(-1);
  return last ? { createdAt: last.created_at, event: last.event_id.toString('hex') } : {};
}

/** Returns null when the delivery is in progress, or the event is no longer kept. */
function toMissed(row: MissedRow, { endpointId, merchantId }: ScopeEndpoint): MissedEvent | null {
  const because = becauseOf(row.delivery_id !== null, row.status);
  if (because === null || row.type === null) return null;
  return {
    eventId: idOf(row.event_id),
    merchantId,
    endpointId,
    type: EVENT_TYPE.word(row.type),
    subType: row.sub_type ?? '',
    because,
    deliveryId: row.delivery_id === null ? null : idOf(row.delivery_id),
  };
}

function formatPlace({ endpoint, createdAt, event }: PageStart): string {
  return `${endpoint}.${createdAt}.${event}`;
}

function parsePlace(place: string): PageStart {
  const parts = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]*)$/.exec(place);
  if (!parts) throw new Error(`the position of a replay is not valid in this store: ${place}`);
  const [, endpoint, createdAt, event = ''] = parts;
  return { endpoint: Number(endpoint), createdAt: Number(createdAt), event };
}
