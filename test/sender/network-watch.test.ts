/**
 * Guarantee: when our own network is down, nobody's attempts are burnt; a few dead receivers do not look like that.
 */
import { describe, expect, test } from 'vitest';
import { NetworkWatch } from '../../services/sender/network-watch.ts';

describe('our own network', () => {
  const silentFor = (watch: NetworkWatch, count: number, now: number, hop = 0) =>
    Array.from({ length: count }, (_, i) => watch.isOurFault(`endpoint ${i}`, hop, now));

  test('is suspected when twenty endpoints are silent and nobody was reached, and not before', () => {
    const watch = new NetworkWatch();
    expect(silentFor(watch, 19, 0)).not.toContain(true);
    expect(watch.isOurFault('endpoint 0', 0, 1)).toBe(false);
    expect(watch.isOurFault('one more', 0, 2)).toBe(true);
    expect(watch.isOurFault('one more', 200, 3)).toBe(false);
  });

  test('is cleared by anybody who answers, and by time', () => {
    const watch = new NetworkWatch();
    silentFor(watch, 30, 0);
    watch.reached(1);
    expect(watch.isOurFault('a', 0, 2)).toBe(false);
    expect(silentFor(watch, 30, 5000)).not.toContain(true);
    expect(watch.isOurFault('a', 0, 10_002)).toBe(true);
    expect(watch.isOurFault('a', 0, 40_000)).toBe(false);
  });
});
