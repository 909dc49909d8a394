import type { HealthPolicy } from '../../../domain/health.ts';
import { type JournalBatch, type JournalEntry, PositionLost } from '../../../domain/journal.ts';
import type { TraceLine } from '../../log/trace-lines.ts';
import { ERASURE_LOCK } from '../client/changes.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { sqlStateOf } from '../client/postgres-errors.ts';
import type { Transaction } from '../client/statements.ts';
import { TIMELINE } from '../client/timeline.ts';
import type { Leaves } from '../leaves/leaves.ts';
import type { TallyWrites } from '../tally/tally-writes.ts';
import { Batch } from './batch.ts';
import type { StoredEventRow } from './batch-events.ts';
import { flush } from './flush.ts';
import { writeHealth } from './health-writes.ts';
import type { LogNames } from './log-names.ts';
import type { Numbers } from './numbers.ts';
import { preload } from './preload.ts';

/** Attempts to record a batch that conflicts with another process. */
const ATTEMPTS = 10;
const UNIQUE_VIOLATION = '23505';
const UNDEFINED_TABLE = '42P01';
/** Before the first position of a partition. */
const NOTHING = -1;

/** `local` does not wait for the standby, `off` not for the disk. */
export type LogCommit = 'on' | 'local' | 'off';

export interface JournalWriteDeps {
  readonly database: PostgresDatabase;
  readonly leaves: Leaves;
  readonly names: LogNames;
  readonly numbers: Numbers;
  readonly tallies: TallyWrites;
  readonly policy: HealthPolicy;
  readonly logCommit: LogCommit;
}

/** A batch with its entries decoded: once, because an entry is known by its object. */
interface Decoded extends JournalBatch {
  readonly entries: readonly JournalEntry[];
}

/** Records journal batches with the positions of their partitions in one transaction, one transaction at a time. */
export class JournalWrites {
  readonly #deps: JournalWriteDeps;
  #last: Promise<unknown> = Promise.resolve();
  #timelines = 0;

  constructor(deps: JournalWriteDeps) {
    this.#deps = deps;
  }

  /** Names, numbers and leaves were forgotten, because the server is on another timeline. */
  forgot(): void {
    this.#timelines += 1;
  }

  async apply(batches: readonly JournalBatch[]): Promise<void> {
    const decoded = batches.map((batch) => ({ ...batch, entries: [...batch.entries] }));
    const recorded = this.#last
      .then(() => this.#record(decoded))
      // In a transaction of its own. When it fails, the batch comes again, and changes nothing.
      .then(() => this.#deps.tallies.mergeWhenFull());
    this.#last = recorded.catch(() => {});
    await recorded;
  }

  async #record(batches: readonly Decoded[]): Promise<void> {
    const { leaves, names, numbers, database } = this.#deps;
    const entries = batches.flatMap((batch) => batch.entries);
    const { merchants, endpoints } = namesIn(entries);
    const named = new Set(entries.flatMap(timesOf).map((at) => leaves.of(at)));
    for (let attempt = 1; ; attempt += 1) {
      await names.add(merchants, endpoints);
      await numbers.reserve(rowsIn(entries));
      await leaves.ensure(named);
      // The connection of the transaction may be the first to another server.
      const timelines = this.#timelines;
      try {
        return await database.transaction((tx) => this.#within(tx, batches, timelines));
      } catch (error) {
        if (error instanceof OtherTimeline) continue;
        const code = sqlStateOf(error);
        // A recorder of another partition has made the same row first; or another process has dropped the leaf.
        if (attempt === ATTEMPTS || (code !== UNIQUE_VIOLATION && code !== UNDEFINED_TABLE)) throw error;
        if (code === UNDEFINED_TABLE) leaves.forget();
      }
    }
  }

  async #within(tx: Transaction, batches: readonly Decoded[], timelines: number): Promise<void> {
    const { leaves, names, numbers, tallies, policy, logCommit } = this.#deps;
    const stored = await lockPositions(tx, batches);
    if (timelines !== this.#timelines) throw new OtherTimeline();
    await tx.rows(`SELECT pg_advisory_xact_lock_shared(${ERASURE_LOCK})`);
    const entries = batches.flatMap((batch) => newEntries(batch, stored));
    // Of what is too old to be kept, only the endpoints' health is.
    const kept = entries.filter((entry) => leaves.isKept(acceptedAtOf(entry)));
    const preloaded = await preload(tx, kept);
    const inTraces = preloaded.events.flatMap(endpointsIn);
    await names.readIds([...inTraces, ...preloaded.deliveries.map(({ endpoint }) => endpoint)], tx);
    const batch = new Batch(preloaded, names.numbers, numbers);
    for (const entry of entries) {
      if (leaves.isKept(acceptedAtOf(entry))) batch.apply(entry);
      else batch.observeOnly(entry);
    }
    await flush(tx, batch, leaves);
    await tallies.add(tx, batch.tallies);
    const hasSwitchedOff = await writeHealth(tx, batch.observed, policy);
    await setPositions(tx, batches);
    // The status of an endpoint is no part of the journal: it would not be recorded again.
    if (logCommit !== 'on' && !hasSwitchedOff) await tx.rows(`SET LOCAL synchronous_commit = ${logCommit}`);
  }
}

/** The server is on another timeline than before: what was committed on that one, such as names, may be lost. */
class OtherTimeline extends Error {}

/** Returns the positions of the batches' partitions, which no other recorder changes until the transaction ends. */
async function lockPositions(tx: Transaction, batches: readonly Decoded[]): Promise<Map<string, number>> {
  const partitions = [...new Set(batches.map(({ partition }) => partition))].sort();
  await tx.change(
    'INSERT INTO journal_position (partition, last) SELECT unnest($1::text[]), $2::bigint ON CONFLICT DO NOTHING',
    [partitions, NOTHING],
  );
  const rows = await tx.rows<{
    readonly partition: string;
    readonly last: number;
    readonly timeline: string;
  }>(
    `SELECT partition, last, ${TIMELINE} AS timeline FROM journal_position
     WHERE partition = ANY($1::text[]) ORDER BY partition FOR UPDATE`,
    [partitions],
  );
  for (const { timeline } of rows.slice(0, 1)) tx.sawTimeline(timeline);
  return new Map(rows.map(({ partition, last }) => [partition, last]));
}

/** Returns the entries that the log does not have, and moves the position on. A part of the batch may be recorded. */
function newEntries(
  { partition, first, last, positions, after, entries }: Decoded,
  positionsOf: Map<string, number>,
): readonly JournalEntry[] {
  const stored = positionsOf.get(partition) ?? NOTHING;
  if (after !== undefined && stored < after)
    throw new PositionLost(
      `the log has ${partition} up to ${stored === NOTHING ? 'nothing' : stored}, but had it up to ${after}`,
    );
  positionsOf.set(partition, Math.max(stored, last));
  return entries.filter((_, index) => (positions?.[index] ?? first + index) > stored);
}

async function setPositions(tx: Transaction, batches: readonly Decoded[]): Promise<void> {
  for (const { partition, last } of batches)
    await tx.change('UPDATE journal_position SET last = greatest(last, $2) WHERE partition = $1', [
      partition,
      last,
    ]);
}

function namesIn(entries: readonly JournalEntry[]) {
  const merchants = new Set<string>();
  const endpoints = new Map<string, string>();
  for (const entry of entries) {
    const { merchantId } = entry.kind === 'routed' ? entry.event : entry.delivery;
    merchants.add(merchantId);
    if (entry.kind === 'routed')
      for (const { endpointId } of entry.trace) endpoints.set(endpointId, merchantId);
    else endpoints.set(entry.delivery.endpointId, merchantId);
  }
  return { merchants, endpoints };
}

function endpointsIn({ trace }: StoredEventRow): readonly number[] {
  return (JSON.parse(trace) as TraceLine[]).map(([endpoint]) => endpoint);
}

function acceptedAtOf(entry: JournalEntry): number {
  return entry.kind === 'routed' ? entry.acceptedAt : entry.delivery.acceptedAt;
}

/** Returns the times that decide in which leaves an entry is recorded. */
function timesOf(entry: JournalEntry): readonly number[] {
  switch (entry.kind) {
    case 'routed':
      return [entry.acceptedAt, entry.at];
    case 'attempted':
      return [entry.delivery.acceptedAt, entry.startedAt, entry.startedAt + entry.durationMs];
    default:
      return [entry.delivery.acceptedAt, entry.at];
  }
}

/** Returns how many new rows with a number the entries may make. */
function rowsIn(entries: readonly JournalEntry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.kind === 'routed' ? 1 + entry.trace.length : 1), 0);
}
