import type { Broker } from '../../../services/broker/broker.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import type { Quarantined } from '../../../services/domain/quarantine.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import { eventually } from '../eventually.ts';
import { deadLetter, quarantined } from './broker-records.ts';

/** Leaves with the broker what stations keep for operators, where no station runs. */

const STOP_MS = 1000;

/**
 * Publishes an event that a router puts into quarantine, whatever it is; returns its position. Other events that wait are
 * taken as repeats.
 */
export async function putAside(
  broker: Pick<Broker, 'events' | 'publishEvents' | 'quarantine'>,
  event: DomainEvent,
  as: Partial<Quarantined> = {},
): Promise<string> {
  await broker.publishEvents([event]);
  const consumer = await broker.events.consume(
    (input) =>
      input.decoded.ok && input.decoded.event.eventId === event.eventId
        ? { kind: 'quarantined', record: { ...quarantined(event, input), ...as } }
        : { kind: 'repeated' },
    { inFlightMax: 1 },
  );
  const [kept] = await eventually('it is in quarantine', async () => {
    const matches = ({ bytes }: Quarantined) => Buffer.from(bytes).includes(event.eventId);
    const found = await broker.quarantine.list({ limit: 1, matches });
    return found.length > 0 ? found : undefined;
  });
  await consumer.stop(STOP_MS);
  return kept?.position ?? '';
}

/** Publishes tasks that a sender gives up. */
export async function giveUp(
  broker: Pick<Broker, 'tasks' | 'publishTasks' | 'deadLetters'>,
  tasks: readonly DeliveryTask[],
): Promise<void> {
  await broker.publishTasks(tasks.map((task) => ({ task, journal: [] })));
  const consumer = await broker.tasks.live.consume(
    (task) => ({ kind: 'settled', journal: [], dead: deadLetter(task) }),
    { inFlightMax: 1 },
  );
  const ids = new Set(tasks.map(({ deliveryId }) => deliveryId));
  await eventually('all are dead letters', async () => {
    const found = await broker.deadLetters.list({
      limit: 1000,
      matches: ({ task }) => ids.has(task.deliveryId),
    });
    return found.length === tasks.length;
  });
  await consumer.stop(STOP_MS);
}
