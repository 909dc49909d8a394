import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Broker } from '../broker/broker.ts';
import type { JournalBatch, JournalEntry } from '../domain/journal.ts';
import type { Clock } from '../process/clock.ts';
import type { Store } from '../store/store.ts';
import { type Activity, NOT_WATCHED } from '../watchdog/activity.ts';
import { BATCH_MAX, Gathering } from './gathering.ts';

const BATCH_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface RecorderDeps {
  readonly broker: Pick<Broker, 'journal'>;
  readonly store: Pick<Store, 'log'>;
  readonly clock: Clock;
  readonly registry: Registry;
  /** Tells the watchdog what this process is busy with; absent: there is none. */
  readonly activity?: Activity;
}

export interface Recorder {
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Runs the recorder: journal batches → the delivery log and the endpoints' health. Effects and positions commit in one
 * store transaction, so a redelivered batch changes nothing. A store that was set back gets the journal again from its
 * position (PositionLost).
 */
export async function startRecorder(deps: RecorderDeps): Promise<Recorder> {
  const { broker, store, clock, activity = NOT_WATCHED } = deps;
  const recorded = new Counter({
    name: 'hookrail_journal_entries_recorded_total',
    help: 'Journal entries applied to the delivery log.',
    registers: [deps.registry],
  });
  const delay = new Gauge({
    name: 'hookrail_recorder_delay_seconds',
    help: 'Age of the newest journal entry when it was applied.',
    registers: [deps.registry],
  });
  const seconds = new Histogram({
    name: 'hookrail_journal_batch_seconds',
    help: 'Time to apply a batch of journal entries to the delivery log.',
    buckets: BATCH_SECONDS,
    registers: [deps.registry],
  });
  const gathering = new Gathering({
    source: broker.journal,
    clock,
    apply: async (batches) => {
      const startedAt = clock.now();
      const label = journalLabel(batches);
      await activity.within(label, () => store.log.applyJournal(batches));
      recorded.inc(batches.reduce((sum, { entries }) => sum + entries.length, 0));
      seconds.observe((clock.now() - startedAt) / 1000);
      activity.within(label, () => {
        const newest = batches.flatMap(({ entries }) => entries.at(-1) ?? []).map(endOf);
        delay.set(Math.max(0, clock.wall() - Math.max(...newest)) / 1000);
      });
    },
  });
  const consumer = await broker.journal.consume(
    (batch) => gathering.add(batch),
    (partition) => store.log.positionOf(partition),
    { batchMax: BATCH_MAX },
  );
  gathering.consumer = consumer;
  broker.journal.onAwaited = () => gathering.hurry();
  return {
    async stop(deadlineMs) {
      gathering.stop();
      await consumer.stop(deadlineMs);
    },
  };
}

/** Names the first batch, and how many are recorded with it. */
function journalLabel(batches: readonly JournalBatch[]): string {
  const [batch] = batches;
  const place = `partition=${batch?.partition} first=${batch?.first} last=${batch?.last}`;
  return `journal ${place} batches=${batches.length}`;
}

/** Returns when the entry's action ended, milliseconds since the epoch. */
function endOf(entry: JournalEntry): number {
  return entry.kind === 'attempted' ? entry.startedAt + entry.durationMs : entry.at;
}
