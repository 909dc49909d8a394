/** Guarantee: the metrics of a partition show the status that the engine gives. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { BrokerStatus, PartitionStatus } from '../../services/broker/broker-status.ts';
import { observeBroker } from '../../services/observability/broker-metrics.ts';

test('the metrics of a partition show lag, age, standstill and headroom under its labels', async () => {
  const partition: PartitionStatus = {
    ...{ stream: 'tasks', topic: 'wh.deliver', partition: 3, isHeld: true, lag: 5, oldestMs: 7000 },
    ...{ stalled: { forMs: 60_000, reason: 'why' }, retentionLeftMs: 90_000, uncommittedMs: 0 },
    ...{ commitFailures: 0, lost: 2, unacknowledged: null, outOfRange: 1 },
  };
  const status = { partitions: [partition], quarantined: new Map(), producer: {} } as unknown as BrokerStatus;
  const registry = new Registry();
  observeBroker(registry, { status: () => status }, { stalenessMs: () => 0 });
  const shown = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values;
  for (const [name, value] of [
    ['hookrail_consumer_lag_records', 5],
    ['hookrail_consumer_lag_seconds', 7],
    ['hookrail_partition_stalled', 1],
    ['hookrail_retention_headroom_seconds', 90],
    ['hookrail_records_lost_total', 2],
    ['hookrail_offsets_out_of_range_total', 1],
  ] as const) {
    const labels = { stream: 'tasks', topic: 'wh.deliver', partition: '3' };
    expect(await shown(name), name).toEqual([{ labels, value }]);
  }
});
