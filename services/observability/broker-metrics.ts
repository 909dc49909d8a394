import { Counter, Gauge, type Registry } from 'prom-client';
import type { Broker, Follower } from '../broker/broker.ts';
import {
  type ParkedStatus,
  type PartitionStatus,
  STREAM_NAMES,
  type StreamName,
} from '../broker/broker-status.ts';
import { QUARANTINE_REASONS } from '../domain/quarantine.ts';
import { PARKED_REASONS } from '../domain/task.ts';

const PARTITION = ['stream', 'topic', 'partition'] as const;
type PartitionLabel = (typeof PARTITION)[number];

const SECOND_MS = 1000;

/**
 * Registers the engine's metrics; docs/operate/metrics.md explains each. Their values come from the engine's memory
 * when Prometheus asks: a scrape contacts no other server. Labels are streams, topics, partitions and reasons, never
 * ids of merchants or endpoints.
 */
export function observeBroker(
  registry: Registry,
  broker: Pick<Broker, 'status'>,
  follower: Pick<Follower, 'stalenessMs'>,
): void {
  observePartitions(registry, broker);
  observeCommits(registry, broker);
  observeLosses(registry, broker);
  observeParked(registry, broker);
  observeOverdue(registry, broker);
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `hookrail_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('broker_reachable', '1 while the engine can be written to, otherwise 0.', () =>
    broker.status().reachable ? 1 : 0,
  );
  gauge(
    'broker_clock_offset_seconds',
    "The Kafka brokers' clocks minus this process's; 0 while they may agree.",
    () => inSeconds(broker.status().clockOffsetMs),
  );
  gauge('stuck_handlers', 'Inputs whose handler keeps failing.', () => broker.status().stuck.count);
  gauge('stuck_handlers_oldest_seconds', 'How long the handler of the oldest of them has been failing.', () =>
    inSeconds(broker.status().stuck.oldestMs),
  );
  gauge('directory_staleness_seconds', 'Time since the directory was last proved to be up to date.', () =>
    inSeconds(follower.stalenessMs()),
  );
  gauge(
    'producer_waiting_bytes',
    'Bytes written and not acknowledged yet.',
    () => broker.status().producer.waitingBytes,
  );
  gauge(
    'producer_waiting_seconds',
    'How long the oldest write has been waiting for its acknowledgement.',
    () => inSeconds(broker.status().producer.oldestWaitingMs),
  );
  gauge(
    'schemas_waiting',
    'Schemas that records wait for, because the registry has not answered.',
    () => broker.status().schemasWaiting,
  );
  const quarantined = new Counter({
    name: 'hookrail_quarantined_total',
    help: 'Records put into quarantine, by reason.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      const counts = broker.status().quarantined;
      for (const reason of QUARANTINE_REASONS) this.inc({ reason }, counts.get(reason) ?? 0);
    },
  });
  for (const reason of QUARANTINE_REASONS) quarantined.inc({ reason }, 0);
}

function observePartitions(registry: Registry, broker: Pick<Broker, 'status'>): void {
  const ofEach = (name: string, help: string, read: (partition: PartitionStatus) => number | null) =>
    new Gauge<PartitionLabel>({
      name: `hookrail_${name}`,
      help,
      labelNames: PARTITION,
      registers: [registry],
      collect() {
        // Partitions come and go with rebalances.
        this.reset();
        for (const partition of heldOf(broker)) {
          const value = read(partition);
          if (value !== null) this.set(labelsOf(partition), value);
        }
      },
    });
  new Gauge({
    name: 'hookrail_backlog',
    help: 'Records waiting in the partitions that this process reads; retries count once they are due.',
    labelNames: ['stream'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [stream, partitions] of byStream(broker)) {
        this.set(
          { stream },
          partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0),
        );
      }
    },
  });
  ofEach(
    'consumer_lag_records',
    'Records not processed yet; retries count once they are due.',
    ({ lag }) => lag,
  );
  ofEach('consumer_lag_seconds', 'How long the oldest of them has been waiting.', ({ oldestMs }) =>
    inSeconds(oldestMs),
  );
  ofEach(
    'partition_stalled',
    '1 while records arrive and none has been processed for a minute, otherwise 0.',
    ({ stalled }) => (stalled ? 1 : 0),
  );
  ofEach(
    'retention_headroom_seconds',
    'Time left until the oldest record not processed is deleted by age.',
    ({ retentionLeftMs }) => (retentionLeftMs === null ? null : inSeconds(retentionLeftMs)),
  );
}

function observeCommits(registry: Registry, broker: Pick<Broker, 'status'>): void {
  new Gauge({
    name: 'hookrail_commit_age_seconds',
    help: 'Time since progress was last committed: what a restart would repeat.',
    labelNames: ['stream'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [stream, partitions] of byStream(broker)) {
        this.set({ stream }, inSeconds(Math.max(0, ...partitions.map(({ uncommittedMs }) => uncommittedMs))));
      }
    },
  });
  new Counter({
    name: 'hookrail_commit_failures_total',
    help: 'Commits of positions that failed, counted for each partition.',
    labelNames: ['stream'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { stream, commitFailures } of broker.status().partitions)
        this.inc({ stream }, commitFailures);
    },
  });
}

function observeLosses(registry: Registry, broker: Pick<Broker, 'status'>): void {
  const ofEach = (name: string, help: string, read: (partition: PartitionStatus) => number) =>
    new Counter<PartitionLabel>({
      name: `hookrail_${name}`,
      help,
      labelNames: PARTITION,
      registers: [registry],
      collect() {
        this.reset();
        for (const partition of broker.status().partitions) this.inc(labelsOf(partition), read(partition));
      },
    });
  new Gauge({
    name: 'hookrail_records_lost_unacknowledged',
    help: 'Records deleted before they were read, until an operator acknowledges it.',
    labelNames: ['stream'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [stream, partitions] of byStream(broker)) {
        const counts = partitions.map(({ unacknowledged }) => unacknowledged?.count ?? 0);
        this.set(
          { stream },
          counts.reduce((sum, count) => sum + count, 0),
        );
      }
    },
  });
  ofEach('records_lost_total', 'Records deleted before they were read.', ({ lost }) => lost);
  ofEach(
    'offsets_out_of_range_total',
    'Times the read position was outside the log.',
    ({ outOfRange }) => outOfRange,
  );
}

function observeParked(registry: Registry, broker: Pick<Broker, 'status'>): void {
  const ofEach = (name: string, help: string, read: (parked: ParkedStatus) => number) =>
    new Gauge({
      name: `hookrail_${name}`,
      help,
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        // What is put aside waits in the quarantine, and comes back by an operator only.
        for (const reason of PARKED_REASONS) if (reason !== 'put_aside') this.set({ reason }, 0);
        for (const parked of broker.status().parked) this.set({ reason: parked.reason }, read(parked));
      },
    });
  ofEach(
    'parked_tasks',
    'Tasks put back without an attempt that wait to come up again, by reason.',
    ({ count }) => count,
  );
  ofEach(
    'parked_oldest_seconds',
    'How long the attempt of the oldest of them has been put off.',
    ({ oldestMs }) => inSeconds(oldestMs),
  );
}

function observeOverdue(registry: Registry, broker: Pick<Broker, 'status'>): void {
  new Gauge({
    name: 'hookrail_oldest_overdue_seconds',
    help: 'How long the oldest task that is due has been waiting for a sender. Absent while that is not known.',
    registers: [registry],
    collect() {
      const { oldestOverdueMs } = broker.status();
      // An old value would neither raise the alert nor end it.
      if (oldestOverdueMs === null) this.remove();
      else this.set(inSeconds(oldestOverdueMs));
    },
  });
}

function heldOf(broker: Pick<Broker, 'status'>): PartitionStatus[] {
  return broker.status().partitions.filter(({ isHeld }) => isHeld);
}

/** Groups the partitions that this process reads by stream. */
function byStream(broker: Pick<Broker, 'status'>): [StreamName, PartitionStatus[]][] {
  const held = heldOf(broker);
  return STREAM_NAMES.map((name): [StreamName, PartitionStatus[]] => [
    name,
    held.filter(({ stream }) => stream === name),
  ]).filter(([, partitions]) => partitions.length > 0);
}

function labelsOf({ stream, topic, partition }: PartitionStatus): Record<PartitionLabel, string> {
  return { stream, topic, partition: `${partition}` };
}

function inSeconds(ms: number): number {
  return ms / SECOND_MS;
}
