/** The floor of the latency, from samples of several turns. */
import { describe, expect, test } from 'vitest';
import { floorOf, ratiosOf } from '../../scripts/bench/floor/floor.ts';

describe('the floor of the latency', () => {
  const turn = (disk: number[], request: number[], produceAndFetch: number[] = []) => ({
    disk,
    request,
    produceAndFetch,
  });

  test('is the median of disk and request together, over all turns', () => {
    const floor = floorOf([turn([1, 9], [1, 1]), turn([2], [5])]);
    // The sums are 2, 10 and 7: the median of the sums is not the sum of the medians.
    expect(floor).toEqual({
      diskMs: 2,
      requestMs: 1,
      diskAndRequestMs: 7,
      produceAndFetchMs: null,
      ms: 7,
      p99Ms: 10,
    });
  });

  test('compares the median with its median, and the 99th percentile with its own', () => {
    const floor = floorOf([turn([1, 1, 9], [1, 1, 1])]);
    expect(ratiosOf({ p50Ms: 4, p99Ms: 15 }, floor)).toEqual({ p50: 2, p99: 1.5 });
  });

  test('has one produce and fetch on top with Kafka', () => {
    const floor = floorOf([turn([1], [1], [4]), turn([1], [1], [6, 5])]);
    expect(floor).toMatchObject({ diskAndRequestMs: 2, produceAndFetchMs: 5, ms: 7, p99Ms: 8 });
  });
});
