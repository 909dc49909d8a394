/**
 * Guarantee: a partition that has no leader holds back its own records and nothing else, for processes that run and for
 * those that start meanwhile; its records are delivered once it has a leader again.
 */
import { randomUUID } from 'node:crypto';
import type { Admin } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import type { Broker } from '../../../services/broker/broker.ts';
import type { TopicSpec } from '../../../services/broker/kafka/topics/topic-spec.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { JournalBatch } from '../../../services/domain/journal.ts';
import { partitionOfKey } from '../../../services/kafka-client/producer/murmur2.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithOwnKafka } from '../../support/kafka/suites.ts';
import { anEvent, aTask, attempted, routed } from '../../support/records/broker-records.ts';

/** The node that is killed, and its partition of the topics that have three. */
const GONE_NODE = 3;
const GONE = 2;
/** The cluster notices a killed broker after nine seconds. Only then do its groups get another coordinator. */
const NOTICED_MS_MAX = 25_000;
const BACK_MS_MAX = 60_000;

/** One copy of each partition: one of events, one of tasks and all of a tier lie on the node that is killed. */
const replicaOf = ({ shortName, partitions }: TopicSpec, partition: number): number => {
  if (shortName === 'retry.66s') return GONE_NODE;
  return partitions === 3 ? partition + 1 : (partition % 2) + 1;
};

async function createTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<void> {
  await admin.createTopics({
    waitForLeaders: false,
    topics: specs.map((spec) => ({
      topic: spec.topic,
      replicaAssignment: Array.from({ length: spec.partitions }, (_, partition) => ({
        partition,
        replicas: [replicaOf(spec, partition)],
      })),
      configEntries: Object.entries(spec.settings).map(([name, value]) => ({ name, value })),
    })),
  });
}

const isGone = (key: string) => partitionOfKey(Buffer.from(key), 3) === GONE;

/** Of one entity, which orders the event and its delivery. */
function eventWhere(isWanted: (key: string) => boolean): DomainEvent {
  for (;;) {
    const entityId = randomUUID();
    if (isWanted(entityId)) return anEvent({ entityId });
  }
}

/** Takes events, delivers their tasks and records the attempts, and remembers which events got so far. */
class Stations {
  readonly delivered = new Set<string>();
  readonly #recorded = new Set<string>();

  async consume(broker: Broker): Promise<void> {
    await broker.events.consume(
      ({ decoded }) => {
        if (!decoded.ok) throw new Error(decoded.detail);
        const { event } = decoded;
        const { eventId, entityId } = event;
        const task = aTask({ deliveryId: deliveryId(eventId, entityId), eventId, endpointId: entityId });
        return { kind: 'routed', tasks: [task], journal: routed(event) };
      },
      { inFlightMax: 100 },
    );
    await broker.tasks.live.consume(
      (task) => {
        this.delivered.add(task.eventId);
        return { kind: 'settled', journal: [attempted(task)] };
      },
      { inFlightMax: 100 },
    );
    const take = async ({ entries }: JournalBatch) => {
      for (const entry of entries) {
        if (entry.kind === 'attempted') this.#recorded.add(entry.delivery.eventId);
      }
    };
    await broker.journal.consume(take, async () => undefined, { batchMax: 100 });
  }

  async untilThere(what: string, ids: readonly string[], ms: number): Promise<void> {
    const begun = performance.now();
    await eventually(what, () => ids.every((id) => this.delivered.has(id) && this.#recorded.has(id)), ms);
    console.log(`${what}: there after ${Math.round(performance.now() - begun)} ms`);
  }
}

function publish(broker: Broker, count: number, isWanted: (key: string) => boolean) {
  const events = Array.from({ length: count }, () => eventWhere(isWanted));
  const accepted = broker.publishEvents(events);
  accepted.catch(() => {});
  return { accepted, ids: events.map(({ eventId }) => eventId) };
}

async function published(broker: Broker, count: number, isWanted: (key: string) => boolean) {
  const { accepted, ids } = publish(broker, count, isWanted);
  await accepted;
  return ids;
}

const isHealthy = (key: string) => !isGone(key);

await describeWithOwnKafka('a broker of three, with one copy of each partition', 3, (cluster) => {
  it('that is killed leaves the records on the others deliverable, also by a process that starts then', async () => {
    const { brokers, registryUrl } = cluster();
    const lines: { readonly level: number; readonly msg: string; readonly [field: string]: unknown }[] = [];
    const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
    const installation = await kafkaInstallation({ brokers, registryUrl: registryUrl ?? '' }, createTopics);
    const stations = new Stations();
    const broker = await installation.open({ log });
    let later: Broker | undefined;
    onTestFinished(async () => {
      await Promise.all([broker.close(), later?.close()]);
      await installation.dispose();
    });
    await stations.consume(broker);
    const before = await published(broker, 12, () => true);
    await stations.untilThere('what came before', before, NOTICED_MS_MAX);

    await cluster().nodes[GONE_NODE - 1]?.kill();
    const healthy = await published(broker, 12, isHealthy);
    const held = publish(broker, 6, isGone);
    await stations.untilThere('what lies on the others', healthy, NOTICED_MS_MAX);
    const next = await published(broker, 12, isHealthy);
    await stations.untilThere('the next', next, NOTICED_MS_MAX);
    expect(held.ids.filter((id) => stations.delivered.has(id))).toEqual([]);
    const topic = `${installation.prefix}deliver`;
    const isTold = () =>
      broker.status().waiting.some((line) => line.startsWith(`${topic}/${GONE}: it has no leader`));
    await eventually('the partition without a leader is reported', isTold, NOTICED_MS_MAX);
    const warnings = lines.filter(
      (line) => line.msg.includes('has no leader') && line.topic === topic && line.partition === GONE,
    );
    expect(warnings).toHaveLength(1);

    await broker.close();
    later = await installation.open({ log });
    await stations.consume(later);
    const after = await published(later, 12, isHealthy);
    await stations.untilThere('what comes after a restart', after, NOTICED_MS_MAX);

    const again = publish(later, 6, isGone);
    await cluster().nodes[GONE_NODE - 1]?.start();
    await again.accepted;
    await stations.untilThere('what waited for the broker', again.ids, BACK_MS_MAX);
    await eventually('no partition waits', () => later?.status().waiting.length === 0, BACK_MS_MAX);
    const acknowledged = [before, healthy, next, after, again.ids].flat();
    expect(acknowledged.filter((id) => !stations.delivered.has(id))).toEqual([]);
  }, 240_000);
});
