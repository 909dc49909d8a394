import { eventDocument, plainDocument } from '../../codec/clear-document.ts';
import type { RecordDecoder } from '../../codec/record-codec.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import { type Quarantined, wouldReturn } from '../../domain/quarantine.ts';
import type { Clock } from '../../process/clock.ts';
import type { Broker, ClearText, ListOptions, RecordStore, Requeued, RequeueOptions } from '../broker.ts';
import { headOf, QUARANTINED_FOUND_MAX } from '../quarantine-find.ts';
import type { CommitHalf } from './commit-half.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { EngineThread } from './file/engine-thread.ts';
import type { Sequencer } from './file/sequencer.ts';
import { EVENTS, type RecordStoreTable, type StoredRecord } from './file/wire.ts';
import { eventOf, taskOf } from './settle.ts';

const LIST_MAX = 1_000;
/** A row's id, as it is written: every record has one position. */
const POSITION = /^(0|[1-9]\d{0,14})$/;
/** Records put back in one commit. */
const REQUEUE_AT_ONCE = 500;
/** Records read at a time: each holds a body. */
const VISIT_PAGE = 100;

type DecoderOf<T> = (schema: number) => RecordDecoder<T>;

/** The store of dead letters, oldest first. A position is a row's id. */
export function deadLetterStore(
  thread: EngineThread,
  queue: CommitQueue,
  decoderOf: DecoderOf<DeadLetter>,
): RecordStore<DeadLetter> {
  return {
    ...readingOf(thread, 'dead_letter', decoderOf),
    forget: (positions) => forget(queue, positions, (half, id) => half.deadLetterDone(id)),
  };
}

/** The store of quarantined events, oldest first. */
export function quarantineStore(
  thread: EngineThread,
  queue: CommitQueue,
  decoderOf: DecoderOf<Quarantined>,
  clock: Pick<Clock, 'now'>,
): Broker['quarantine'] {
  const read = async (ids: readonly number[]) => {
    const reply = await thread.read({ kind: 'readQuarantined', ids });
    if (reply.kind !== 'records') throw new Error(`unexpected answer ${reply.kind}`);
    return reply.records;
  };
  return {
    ...readingOf(thread, 'quarantine', decoderOf),
    forget: (positions) => forget(queue, positions, (half, id) => half.quarantineDone(id)),
    async read(position) {
      const ids = idsOf([position]);
      if (ids.length === 0) throw new RangeError(`"${position}" is not a position in this store`);
      const [stored] = await read(ids);
      return stored && decoded(stored, decoderOf);
    },
    clearText: async (record) => clearTextOf(record),
    async find(wanted) {
      const request = { kind: 'findQuarantined', wanted, limit: QUARANTINED_FOUND_MAX } as const;
      const reply = await thread.read(request);
      if (reply.kind !== 'records') throw new Error(`unexpected answer ${reply.kind}`);
      return { records: reply.records.map((stored) => headOf(decoded(stored, decoderOf))), since: null };
    },
    async requeue(positions, options = {}) {
      const ids = idsOf(positions);
      const refused: Requeued['refused'][number][] = [];
      let requeued = 0;
      for (let from = 0; from < ids.length; from += REQUEUE_AT_ONCE) {
        const stored = await read(ids.slice(from, from + REQUEUE_AT_ONCE));
        const done = await requeue(stored, { queue, decoderOf, clock, options });
        requeued += done.requeued;
        refused.push(...done.refused);
      }
      return { requeued, refused };
    },
  };
}

const UNREADABLE: ClearText = { kind: 'unreadable', why: 'its bytes are not a record of this version' };

/** Returns what a record says: its bytes are JSON. */
function clearTextOf(record: Quarantined): ClearText {
  if (record.reason === 'attempt_stalled') {
    const task = taskOf(record);
    return task ? { kind: 'task', document: plainDocument(task) } : UNREADABLE;
  }
  const event = eventOf(record);
  return event ? { kind: 'event', document: eventDocument(event), problems: [], event } : UNREADABLE;
}

async function requeue(
  records: readonly StoredRecord[],
  {
    queue,
    decoderOf,
    clock,
    options: { newIdOf = () => null, stillRefused = async () => null, isDryRun },
  }: {
    readonly queue: CommitQueue;
    readonly decoderOf: DecoderOf<Quarantined>;
    readonly clock: Pick<Clock, 'now'>;
    readonly options: RequeueOptions;
  },
): Promise<Requeued> {
  const found: { readonly id: number; readonly putBack: (half: CommitHalf) => void }[] = [];
  const refused: { readonly position: string; readonly detail: string }[] = [];
  for (const stored of records) {
    const record = decoded(stored, decoderOf);
    const refusal = await whyItWouldReturn(record, stillRefused);
    const putBack = putBackOf(record, newIdOf(record), clock, queue.sequencer);
    if (refusal !== null) refused.push({ position: stored.key, detail: refusal });
    else if (putBack) found.push({ id: Number(stored.key), putBack });
    else refused.push({ position: stored.key, detail: 'its bytes are not a record of this version' });
  }
  if (found.length === 0 || isDryRun) return { requeued: found.length, refused };
  // Removed from the store and back on the stream in one commit.
  await queue.publish((half) => {
    for (const { id, putBack } of found) {
      putBack(half);
      half.quarantineDone(id);
    }
  });
  return { requeued: found.length, refused };
}

/** Returns why a record would be quarantined again, or null. */
async function whyItWouldReturn(
  record: Quarantined,
  stillRefused: NonNullable<RequeueOptions['stillRefused']>,
): Promise<string | null> {
  const event = record.reason === 'attempt_stalled' ? undefined : eventOf(record);
  const refusal = event === undefined ? null : await stillRefused(event);
  return refusal && wouldReturn(refusal);
}

/** Returns how a record goes back to its stream, or undefined when it cannot. */
function putBackOf(
  record: Quarantined,
  newId: string | null,
  clock: Pick<Clock, 'now'>,
  sequencer: Sequencer,
): ((half: CommitHalf) => void) | undefined {
  if (record.reason === 'attempt_stalled') {
    const task = taskOf(record);
    return task && ((half) => half.appendTask({ ...task, hop: task.hop + 1 }, clock.now()));
  }
  const event = eventOf(record);
  if (!event) return undefined;
  if (newId !== null) {
    const renamed = sequencer.next({ ...event, eventId: newId });
    return (half) => half.append(EVENTS, renamed, true);
  }
  const again = sequencer.again(event);
  // The id is already known, so it is not checked again.
  return (half) => half.append(EVENTS, again);
}

function idsOf(positions: readonly string[]): number[] {
  return [...new Set(positions)].filter((position) => POSITION.test(position)).map(Number);
}

async function forget(
  queue: CommitQueue,
  positions: readonly string[],
  takeOff: (half: CommitHalf, id: number) => void,
): Promise<void> {
  const ids = idsOf(positions);
  if (ids.length === 0) return;
  await queue.publish((half) => {
    for (const id of ids) takeOff(half, id);
  });
}

type Listed<T> = readonly { readonly position: string; readonly record: T }[];

function readingOf<T>(
  thread: EngineThread,
  table: RecordStoreTable,
  decoderOf: DecoderOf<T>,
): Pick<RecordStore<T>, 'list' | 'visit'> {
  const page = async (after: string | undefined, limit: number): Promise<Listed<T>> => {
    if (after !== undefined && !POSITION.test(after))
      throw new RangeError(`"${after}" is not a position in this store`);
    const from = Number(after ?? 0);
    const request = { kind: 'readRecordStore', table, after: from, limit } as const;
    const reply = await thread.read(request);
    if (reply.kind !== 'records') throw new Error(`unexpected answer ${reply.kind}`);
    return reply.records.map((stored) => ({ position: stored.key, record: decoded(stored, decoderOf) }));
  };
  const list = async ({ after, limit, matches = () => true }: ListOptions<T>): Promise<Listed<T>> => {
    const wanted = Math.min(limit, LIST_MAX);
    const listed: Listed<T>[number][] = [];
    for (let from = after; listed.length < wanted; ) {
      const asked = wanted - listed.length;
      const records = await page(from, asked);
      listed.push(...records.filter(({ record }) => matches(record)));
      from = records.at(-1)?.position;
      if (records.length < asked || from === undefined) break;
    }
    return listed;
  };
  const visit: RecordStore<T>['visit'] = async (use) => {
    for (let from: string | undefined; ; ) {
      const records = await page(from, VISIT_PAGE);
      for (const { position, record } of records) await use(position, record);
      from = records.at(-1)?.position;
      if (records.length < VISIT_PAGE || from === undefined) return;
    }
  };
  return { list, visit };
}

function decoded<T>({ schema, blob }: StoredRecord, decoderOf: DecoderOf<T>): T {
  return decoderOf(schema).decode(Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength), 0);
}
