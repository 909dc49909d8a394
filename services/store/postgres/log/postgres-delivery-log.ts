import type { EventData } from '../../../domain/event.ts';
import type { JournalBatch } from '../../../domain/journal.ts';
import type { Clock } from '../../../process/clock.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import { type AttemptColumns, linesOf, toAttempt } from '../../rows/log-records.ts';
import { type DeliveryLog, EVENTS_OF_ID_MAX } from '../../store.ts';
import { idBytes } from '../client/packed-id.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { PostgresFeed } from '../feed/postgres-feed.ts';
import { prepareClosed } from '../leaves/closed-leaves.ts';
import { LEAF_KINDS, type LeafKind } from '../leaves/leaf.ts';
import { beginnings, type Leaves } from '../leaves/leaves.ts';
import { AttemptWaits } from './attempt-waits.ts';
import { BODY_KIND } from './bodies.ts';
import { type JournalWriteDeps, JournalWrites } from './journal-writes.ts';
import type { LogNames } from './log-names.ts';
import { type DeliveryRow, type EventRow, toDelivery, toListed } from './log-rows.ts';

type FullDelivery = Awaited<ReturnType<DeliveryLog['delivery']>>;
type FullEvent = Awaited<ReturnType<DeliveryLog['event']>>;

/** The kinds of leaves that deletion by age covers. The feed has a retention of its own. */
const LOG_KINDS: readonly LeafKind[] = LEAF_KINDS.filter((kind) => kind !== 'feed');

/** Leaves that exist before their time begins. */
const LEAVES_AHEAD = 2;

export class PostgresDeliveryLog implements DeliveryLog {
  readonly #database: PostgresDatabase;
  readonly #leaves: Leaves;
  readonly #feed: PostgresFeed;
  readonly #names: LogNames;
  readonly #writes: JournalWrites;
  readonly #waits: AttemptWaits;
  readonly #clock: Clock;
  readonly #tallies: JournalWriteDeps['tallies'];

  constructor(
    deps: JournalWriteDeps & {
      readonly feed: PostgresFeed;
      readonly clock: Clock;
    },
  ) {
    this.#database = deps.database;
    this.#leaves = deps.leaves;
    this.#feed = deps.feed;
    this.#names = deps.names;
    this.#writes = new JournalWrites(deps);
    this.#waits = new AttemptWaits(deps.database, deps.clock);
    this.#clock = deps.clock;
    this.#tallies = deps.tallies;
  }

  async applyJournal(batches: readonly JournalBatch[]): Promise<void> {
    await this.#writes.apply(batches);
    for (const { entries } of batches) {
      this.#waits.recorded(entries);
      this.#feed.recorded(entries);
    }
  }

  /** Names, numbers and leaves were forgotten. */
  forgot(): void {
    this.#writes.forgot();
  }

  positionOf(partition: string): Promise<number | undefined> {
    return this.#database.read(async ({ first }) => {
      const row = await first<{ readonly last: number }>(
        'SELECT last FROM journal_position WHERE partition = $1 AND last >= 0',
        [partition],
      );
      return row?.last;
    });
  }

  async delivery(merchantId: string, endpointId: string, deliveryId: string): Promise<FullDelivery> {
    const endpoint = await this.#names.endpoint(merchantId, endpointId);
    if (endpoint === undefined) return undefined;
    return this.#database.read(async (statements) => {
      const { first, rows } = statements;
      const row = await first<DeliveryRow>('SELECT * FROM delivery WHERE delivery_id = $1', [
        idBytes(deliveryId),
      ]);
      if (!row || row.endpoint !== endpoint) return undefined;
      const record = toDelivery(row, { merchantId, endpointId });
      const from = row.seq * ATTEMPTS_PER_DELIVERY;
      const attempts = await rows<AttemptColumns>(ATTEMPTS, [
        from,
        from + ATTEMPTS_PER_DELIVERY,
        row.created_at,
        row.seq,
      ]);
      const event = await first<Pick<EventRow, 'seq' | 'created_at' | 'removed_at'>>(EVENT_OF, [
        row.event_id,
        merchantId,
      ]);
      const { bodies } = await beginnings(statements);
      const isOld = row.created_at < bodies;
      const isRemoved = isOld || row.removed === 1 || (event?.removed_at ?? null) !== null;
      const body = isRemoved
        ? undefined
        : await first<{ readonly bytes: Buffer }>(BODY, [
            row.seq,
            row.created_at,
            event?.seq ?? -1,
            event?.created_at ?? -1,
            row.api_version,
          ]);
      return {
        ...record,
        attempts: attempts.map((attempt) => toAttempt(attempt, record.trigger)),
        body: body ? new Uint8Array(body.bytes) : null,
        bodyRemoved: isRemoved,
      };
    });
  }

  async event(merchantId: string, eventId: string): Promise<FullEvent> {
    const merchant = await this.#names.merchant(merchantId);
    if (merchant === undefined) return undefined;
    const found = await this.#database.read(async ({ first }) => {
      const row = await first<EventRow>('SELECT * FROM event WHERE event_id = $1 AND merchant = $2', [
        idBytes(eventId),
        merchant,
      ]);
      const data =
        row &&
        (await first<{ readonly bytes: Buffer }>(
          'SELECT bytes FROM body WHERE owner = $1 AND created_at = $2 AND kind = $3 AND n = 0',
          [row.seq, row.created_at, BODY_KIND.data],
        ));
      return row && { row, data: data?.bytes };
    });
    if (!found) return undefined;
    await this.#names.readIds(linesOf(found.row).map(([endpoint]) => endpoint));
    const listed = toListed(found.row, merchantId, this.#names.numbers.endpointId);
    const { row, data: stored } = found;
    const isKept = row.removed_at === null && stored !== undefined;
    const data = isKept ? (JSON.parse(stored.toString()) as EventData) : null;
    const { subjectId, sequence, routedAt, trace } = listed;
    return { event: { ...listed.event, data }, subjectId, sequence, routedAt, trace };
  }

  async ownerOf(deliveryId: string): ReturnType<DeliveryLog['ownerOf']> {
    const row = await this.#database.read(({ first }) =>
      first<{ readonly merchant_id: string; readonly endpoint_id: string }>(OWNER_OF, [idBytes(deliveryId)]),
    );
    return row && { merchantId: row.merchant_id, endpointId: row.endpoint_id };
  }

  async endpointOf(merchantId: string, deliveryId: string): Promise<string | undefined> {
    const owner = await this.ownerOf(deliveryId);
    return owner?.merchantId === merchantId ? owner.endpointId : undefined;
  }

  async eventsOf(eventId: string): Promise<Awaited<ReturnType<DeliveryLog['eventsOf']>>> {
    const found = await this.#database.read(({ rows }) =>
      rows<EventRow & { readonly merchant_id: string }>(EVENTS_OF, [idBytes(eventId), EVENTS_OF_ID_MAX]),
    );
    await this.#names.readIds(found.flatMap(linesOf).map(([endpoint]) => endpoint));
    return found.map((row) => toListed(row, row.merchant_id, this.#names.numbers.endpointId));
  }

  isRecorded(deliveryId: string): Promise<boolean> {
    return this.#database.read(async ({ first }) => {
      return (
        (await first('SELECT 1 FROM delivery WHERE delivery_id = $1', [idBytes(deliveryId)])) !== undefined
      );
    });
  }

  waitForAttempt(deliveryId: string, signal: AbortSignal): Promise<boolean> {
    return this.#waits.wait(deliveryId, signal);
  }

  /**
   * Drops the oldest leaf when all of it is old enough, or else prepares one that has ended: one leaf per call. Before that
   * it merges what was counted, which may have waited since the last batch, and makes the next leaves: while a leaf is dropped, a process that makes one has to wait.
   */
  async retain(before: number): Promise<number> {
    const now = this.#clock.wall();
    const { leafMs } = this.#leaves;
    await this.#leaves.ensureAt(
      ...Array.from({ length: LEAVES_AHEAD + 1 }, (_, ahead) => now + ahead * leafMs),
    );
    await this.#tallies.merge();
    const isDropped = await this.#leaves.dropOldest(LOG_KINDS, before, 'log_from');
    if (isDropped || (await prepareClosed(this.#database, this.#leaves, now))) return 1;
    await this.#database.transaction(({ change }) =>
      change('DELETE FROM erasure WHERE accepted_before < $1 AND done_at IS NOT NULL', [Math.floor(before)]),
    );
    return 0;
  }

  /** Drops the oldest leaf of bodies, when all of it is old enough: one leaf per call. */
  async removeBodies(before: number): Promise<number> {
    return Number(await this.#leaves.dropOldest(['body'], before, 'bodies_from'));
  }

  /** Ends all waits. */
  close(): void {
    this.#waits.close();
  }
}

const OWNER_OF = `SELECT n.endpoint_id, m.merchant_id FROM delivery d JOIN log_endpoint n ON n.seq = d.endpoint
  JOIN log_merchant m ON m.seq = d.merchant WHERE d.delivery_id = $1`;

const ATTEMPTS = `SELECT a.*, a.attempt_id % ${ATTEMPTS_PER_DELIVERY} AS number, b.bytes AS body FROM attempt a
  LEFT JOIN body b ON b.owner = $4 AND b.created_at = a.created_at AND b.kind = ${BODY_KIND.response}
  AND b.n = a.attempt_id % ${ATTEMPTS_PER_DELIVERY}
  WHERE a.attempt_id >= $1 AND a.attempt_id < $2 AND a.created_at = $3 ORDER BY a.attempt_id`;

const EVENT_OF = `SELECT e.seq, e.created_at, e.removed_at FROM event e JOIN log_merchant m ON m.seq = e.merchant
  WHERE e.event_id = $1 AND m.merchant_id = $2`;

const EVENTS_OF = `SELECT e.*, m.merchant_id FROM event e JOIN log_merchant m ON m.seq = e.merchant
  WHERE e.event_id = $1 LIMIT $2`;

/** The delivery's own body, else its event's in the delivery's version. */
const BODY = `SELECT bytes FROM body WHERE owner = $1 AND created_at = $2 AND kind = ${BODY_KIND.own}
  UNION ALL SELECT bytes FROM body WHERE owner = $3 AND created_at = $4 AND kind = ${BODY_KIND.event} AND n = $5
  LIMIT 1`;
