import { Registry } from 'prom-client';
import type { JournalEntry } from '../../../services/domain/journal.ts';
import type { DeliveryTask, TaskClass } from '../../../services/domain/task.ts';
import { startRecorder } from '../../../services/recorder/recorder.ts';
import { delivered } from '../records/journal-entries.ts';
import type { TestApi } from './test-api.ts';

/** A recorder on a test's API, and a fake sender that settles each task without a request. */
export interface RecordedApi {
  /** Tasks handed to the sender, in order. */
  readonly sent: readonly DeliveryTask[];
  /** Returns the journal entries of a task; `delivered` unless a test replaces it. */
  settle: (task: DeliveryTask) => readonly JournalEntry[];
  stop(): Promise<void>;
}

export async function startRecorded(api: TestApi, classes: readonly TaskClass[]): Promise<RecordedApi> {
  const recorder = await startRecorder({ ...api, registry: new Registry() });
  const sent: DeliveryTask[] = [];
  const recorded = {
    sent,
    settle: (task: DeliveryTask): readonly JournalEntry[] => [delivered(task)],
    stop: async () => {
      for (const consumer of consumers) await consumer.stop(1000);
      await recorder.stop(1000);
    },
  };
  const consumers = await Promise.all(
    classes.map((name) =>
      api.broker.tasks[name].consume(
        (task) => {
          sent.push(task);
          return { kind: 'settled', journal: recorded.settle(task) };
        },
        { inFlightMax: 100 },
      ),
    ),
  );
  return recorded;
}
