import type { Broker, Settlement } from '../../../services/broker/broker.ts';
import type { Attempted } from '../../../services/domain/journal.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import type { Store } from '../../../services/store/store.ts';

/** The result of a simulated attempt: the fields of `Attempted` that tests choose. */
export type Played = Pick<Attempted, 'outcome' | 'failureCode' | 'failureDetail' | 'response'>;

export const ACKNOWLEDGED: Played = {
  outcome: { kind: 'delivered' },
  failureCode: null,
  failureDetail: null,
  response: {
    status: 204,
    headers: [
      ['x-served-by', 'a'],
      ['set-cookie', 'one=1'],
      ['set-cookie', 'two=2'],
    ],
    body: new TextEncoder().encode('thanks'),
    bodyTruncated: false,
  },
};

/**
 * Consumes test tasks and the journal from the real streams, as the sender and the recorder do, without a network: the
 * attempts are simulated by `play`.
 */
export async function sendAndRecord(
  broker: Broker,
  store: Store,
  play: (task: DeliveryTask) => Played,
): Promise<{ readonly tasks: readonly DeliveryTask[] }> {
  const tasks: DeliveryTask[] = [];
  await broker.journal.consume(
    (batch) => store.log.applyJournal([batch]),
    (partition) => store.log.positionOf(partition),
    { batchMax: 100 },
  );
  await broker.tasks.test.consume(
    (task): Settlement => {
      tasks.push(task);
      const attempted: Attempted = {
        kind: 'attempted',
        delivery: task,
        endpointVersion: 1,
        startedAt: Date.now(),
        durationMs: 12.345,
        signature: 'v1,c2lnbmF0dXJl',
        ...play(task),
      };
      return { kind: 'settled', journal: [attempted] };
    },
    { inFlightMax: 10 },
  );
  return { tasks };
}
