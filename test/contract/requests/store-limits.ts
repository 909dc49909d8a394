import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MINUTE_MS = 60_000;

export function limitsContract(test: StoreUnderTest): void {
  describe('the rate limits of the store', () => {
    it('count every request of a key against its limit, also those that come at once', async () => {
      const { limits } = test.store;
      const taken = await Promise.all(
        Array.from({ length: 20 }, () => limits.take('key-1', 'requests', MINUTE_MS)),
      );
      const counted = taken.map(({ used }) => used).sort((a, b) => a - b);
      expect(counted).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
      for (const { endsInMs } of taken) {
        expect(endsInMs).toBeGreaterThan(0);
        expect(endsInMs).toBeLessThanOrEqual(MINUTE_MS);
      }
    });

    it('count each key and each limit apart', async () => {
      const { limits } = test.store;
      await limits.take('key-1', 'requests', MINUTE_MS);
      expect((await limits.take('key-2', 'requests', MINUTE_MS)).used).toBe(1);
      expect((await limits.take('key-1', 'tests', MINUTE_MS)).used).toBe(1);
      expect((await limits.take('key-1', 'requests', MINUTE_MS)).used).toBe(2);
    });

    it('begin anew when the window has ended', async () => {
      const { limits } = test.store;
      const { endsInMs } = await limits.take('key-1', 'requests', 1);
      expect(endsInMs).toBeLessThanOrEqual(1);
      const isNew = async () => (await limits.take('key-1', 'requests', 1)).used === 1;
      await eventually('a new window', isNew);
    });
  });
}
