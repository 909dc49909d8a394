/** Guarantee: the metrics show the status that the engine gives. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { BrokerStatus, PartitionStatus } from '../../services/broker/broker-status.ts';
import { observeBroker } from '../../services/observability/broker-metrics.ts';

/** Returns the values of a metric as a scrape shows them; `change` what the engine says. */
function metricsOf(given: Partial<BrokerStatus>) {
  const status = { partitions: [], parked: [], quarantined: new Map(), producer: {}, ...given };
  const registry = new Registry();
  observeBroker(registry, { status: () => status as unknown as BrokerStatus }, { stalenessMs: () => 0 });
  return {
    shown: async (name: string) => (await registry.getSingleMetric(name)?.get())?.values,
    change: (change: Partial<BrokerStatus>) => Object.assign(status, change),
  };
}

test('the metrics of a partition show lag, age, standstill and headroom under its labels', async () => {
  const partition: PartitionStatus = {
    ...{ stream: 'tasks', topic: 'wh.deliver', partition: 3, isHeld: true, lag: 5, oldestMs: 7000 },
    ...{ stalled: { forMs: 60_000, reason: 'why' }, retentionLeftMs: 90_000, uncommittedMs: 0 },
    ...{ commitFailures: 0, lost: 2, unacknowledged: null, outOfRange: 1 },
  };
  const { shown } = metricsOf({ partitions: [partition] });
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

test('the age of the oldest overdue task is absent while it is not known, and there again afterwards', async () => {
  const { shown, change } = metricsOf({ oldestOverdueMs: 70_000 });
  const ages = async () => (await shown('hookrail_oldest_overdue_seconds'))?.map(({ value }) => value);
  expect(await ages()).toEqual([70]);
  change({ oldestOverdueMs: null });
  expect(await ages()).toEqual([]);
  change({ oldestOverdueMs: 0 });
  expect(await ages()).toEqual([0]);
});

test('parked tasks are counted by reason with the age of the oldest, and are 0 when they have gone', async () => {
  const { shown, change } = metricsOf({ parked: [{ reason: 'network_down', count: 7, oldestMs: 90_000 }] });
  const found = async (name: string) =>
    Object.fromEntries((await shown(name))?.map(({ labels, value }) => [labels.reason, value]) ?? []);
  expect(await found('hookrail_parked_tasks')).toMatchObject({ network_down: 7, endpoint_full: 0 });
  expect(await found('hookrail_parked_oldest_seconds')).toMatchObject({ network_down: 90, endpoint_full: 0 });
  expect(await found('hookrail_parked_tasks')).not.toHaveProperty('put_aside');
  change({ parked: [] });
  expect(await found('hookrail_parked_tasks')).toMatchObject({ network_down: 0 });
  expect(await found('hookrail_parked_oldest_seconds')).toMatchObject({ network_down: 0 });
});
