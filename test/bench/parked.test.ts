/** Parked tasks by tier, as the benchmark reads them from the metrics. */
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { since } from '../../scripts/bench/counts.ts';
import { parkedIn, parkedLater, parkedSoon } from '../../scripts/bench/parked.ts';
import { SenderMetrics } from '../../services/sender/metrics.ts';

describe('parked tasks', () => {
  const setUp = () => {
    const registry = new Registry();
    const inFlight = () => ({ fast: 0, slow: 0, waiting: 0 });
    return { registry, metrics: new SenderMetrics(registry, inFlight, () => 0) };
  };

  test('are read by tier from the metrics that the sender serves, over all reasons', async () => {
    const { registry, metrics } = setUp();
    expect(parkedIn(await registry.metrics())).toEqual({});
    metrics.parked('endpoint_full', 3);
    metrics.parked('merchant_paused', 66);
    metrics.parked('endpoint_full', 66);
    metrics.parked('endpoint_full', 731);
    const parked = parkedIn(await registry.metrics());
    expect(parked).toEqual({ 3: 1, 66: 2, 731: 1 });
    expect(parkedSoon(parked)).toBe(1);
    expect(parkedLater(parked)).toBe(3);
  });

  test('are counted from a moment on, tier by tier', async () => {
    const { registry, metrics } = setUp();
    metrics.parked('endpoint_full', 3);
    const before = parkedIn(await registry.metrics());
    metrics.parked('endpoint_full', 66);
    expect(since(before, parkedIn(await registry.metrics()))).toEqual({ 66: 1 });
  });
});
