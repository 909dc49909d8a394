import { expect, it } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { type JournalBatch, type JournalEntry, PositionLost } from '../../services/domain/journal.ts';
import { aTask, requested } from '../support/records/broker-records.ts';
import { type GiveBench, gate, stopped } from './broker-bench.ts';

/** Writes entries to the journal, in order, by publishing tasks with them. */
async function write(broker: Broker, count: number): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let at = 0; at < count; at += 100) {
    const tasks = Array.from({ length: Math.min(100, count - at) }, () => aTask({ trigger: 'replay' }));
    const published = tasks.map((task) => ({ task, journal: [requested(task)] }));
    entries.push(...published.flatMap(({ journal }) => journal));
    await broker.publishTasks(published);
  }
  return entries;
}

/** A fake store: applies each entry once, and remembers its position in each partition. */
class Positions {
  readonly #last = new Map<string, number>();
  readonly entries: JournalEntry[] = [];
  readonly batches: JournalBatch[] = [];

  readonly take = async (batch: JournalBatch): Promise<void> => {
    const positions = batch.positions ?? [...batch.entries].map((_, index) => batch.first + index);
    expect(positions).toHaveLength(batch.entries.length);
    expect([positions[0], positions.at(-1)]).toEqual([batch.first, batch.last]);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    const last = this.#last.get(batch.partition);
    const { after } = batch;
    if (after !== undefined && (last === undefined || last < after))
      throw new PositionLost('it was set back');
    this.batches.push(batch);
    for (const [index, entry] of [...batch.entries].entries()) {
      if (last === undefined || (positions[index] ?? 0) > last) this.entries.push(entry);
    }
    this.#last.set(batch.partition, Math.max(batch.last, last ?? -1));
  };

  /** Forgets the newest batches, until about `kept` entries are left. */
  setBack(kept: number): void {
    while (this.entries.length > kept) {
      const batch = this.batches.pop();
      if (!batch) return;
      this.entries.splice(-batch.entries.length);
      const before = this.batches.findLast(({ partition }) => partition === batch.partition);
      if (before) this.#last.set(batch.partition, before.last);
      else this.#last.delete(batch.partition);
    }
  }

  readonly positionOf = async (partition: string): Promise<number | undefined> => this.#last.get(partition);
}

export function journalGuarantees(bench: GiveBench): void {
  it('hands entries over in order, in contiguous batches of limited size, one at a time', async () => {
    const broker = await bench().open();
    const store = new Positions();
    let running = 0;
    await broker.journal.consume(
      async (batch) => {
        running += 1;
        expect(running).toBe(1);
        expect(batch.entries.length).toBeLessThanOrEqual(64);
        await store.take(batch);
        await bench().clock.sleep(1);
        running -= 1;
      },
      store.positionOf,
      { batchMax: 64 },
    );
    const entries = await write(broker, 1_000);
    await bench().eventually('all entries', () => store.entries.length === entries.length);
    expect(store.entries).toEqual(entries);
    expect(broker.status().stuck.count).toBe(0);
  });

  it('continues where the store is, after a crash and after a restart', async () => {
    let broker = await bench().open();
    const store = new Positions();
    const entries = await write(broker, 300);
    const some = gate();
    await broker.journal.consume(
      async (batch) => {
        await store.take(batch);
        if (store.entries.length >= 100) {
          some.open();
          // The store has applied the batch; the crash comes before the engine is notified.
          await new Promise(() => {});
        }
      },
      store.positionOf,
      { batchMax: 30 },
    );
    await some.opened;
    broker = await bench().crash(broker);
    const consumer = await broker.journal.consume(store.take, store.positionOf, { batchMax: 30 });
    await bench().eventually('all entries', () => store.entries.length === entries.length);
    await stopped(consumer);
    broker = await bench().restart(broker);
    const batches = store.batches.length;
    // Positions keep growing, even when all earlier entries were consumed and deleted.
    const more = await write(broker, 10);
    await broker.journal.consume(store.take, store.positionOf, { batchMax: 30 });
    await bench().eventually(
      'the later entries',
      () => store.entries.length === entries.length + more.length,
    );
    expect(store.entries).toEqual([...entries, ...more]);
    expect(store.batches.length).toBeGreaterThan(batches);
    await bench().eventually('no backlog', () => broker.status().backlog.journal === 0);
  });

  it('hands the same batch over again when the handler throws, and reports it as stuck', async () => {
    const broker = await bench().open();
    const store = new Positions();
    const entries = await write(broker, 50);
    const tried: JournalBatch[] = [];
    await broker.journal.consume(
      async (batch) => {
        tried.push(batch);
        if (tried.length === 3) expect(broker.status().stuck.count).toBe(1);
        if (tried.length <= 3) throw new Error('the store is busy');
        await store.take(batch);
      },
      store.positionOf,
      { batchMax: 20 },
    );
    await bench().eventually('all entries', () => store.entries.length === entries.length);
    expect(tried[1]).toEqual(tried[0]);
    expect(tried[3]?.first).toEqual(tried[0]?.first);
    expect(store.entries).toEqual(entries);
    expect(broker.status().stuck.count).toBe(0);
  });

  it('delivers again the entries that a store lost when its position went back', async (context) => {
    const broker = await bench().open();
    if (!broker.capabilities.keepsJournal) return context.skip();
    const store = new Positions();
    const entries = await write(broker, 200);
    await broker.journal.consume(store.take, store.positionOf, { batchMax: 20 });
    await bench().eventually('the first entries', () => store.entries.length === entries.length);
    store.setBack(80);
    expect(store.entries.length).toBeLessThan(entries.length);
    const more = await write(broker, 200);
    const all = [...entries, ...more];
    await bench().eventually('all entries', () => store.entries.length === all.length);
    expect(store.entries).toEqual(all);
    expect(broker.status().stuck.count).toBe(0);
  });

  it('hands over nothing while paused, and afterwards what came meanwhile', async () => {
    const broker = await bench().open();
    const store = new Positions();
    const consumer = await broker.journal.consume(store.take, store.positionOf, { batchMax: 64 });
    const before = await write(broker, 3);
    await bench().eventually('the first entries', () => store.entries.length === before.length);
    consumer.pause();
    const entries = [...before, ...(await write(broker, 30))];
    await bench().turn(broker);
    expect(store.entries).toEqual(before);
    consumer.resume();
    await bench().eventually('all entries', () => store.entries.length === entries.length);
    expect(store.entries).toEqual(entries);
  });

  it('waits for the running batch when it stops', async () => {
    const broker = await bench().open();
    await write(broker, 10);
    const entered = gate();
    const release = gate();
    let batches = 0;
    const consumer = await broker.journal.consume(
      async () => {
        batches += 1;
        entered.open();
        await release.opened;
      },
      async () => undefined,
      { batchMax: 2 },
    );
    await entered.opened;
    const stop = stopped(consumer);
    release.open();
    expect(await stop).toBe('drained');
    expect(batches).toBe(1);
    await write(broker, 5);
    await bench().turn(broker);
    expect(batches).toBe(1);
  });
}
