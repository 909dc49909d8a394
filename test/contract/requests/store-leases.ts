import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../store-place.ts';

export function leasesContract(test: StoreUnderTest): void {
  describe('the leases of the store', () => {
    it('start the jobs, and end them before the lease ends', async () => {
      const done: string[] = [];
      const lease = await test.store.leases.hold('api', async () => {
        done.push('started');
        return async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          done.push('stopped');
        };
      });
      expect(done).toEqual(['started']);
      await Promise.all([lease.stop(), lease.stop()]);
      expect(done).toEqual(['started', 'stopped']);
    });

    it('do not keep each other out, and are free again when they were stopped', async () => {
      const { leases } = test.store;
      const started: string[] = [];
      const start = (name: string) => async () => {
        started.push(name);
        return () => Promise.resolve();
      };
      const api = await leases.hold('api', start('api'));
      const log = await leases.hold('log', start('log'));
      await api.stop();
      const again = await leases.hold('api', start('api again'));
      expect(started).toEqual(['api', 'log', 'api again']);
      await Promise.all([log.stop(), again.stop()]);
    });

    it('say when the jobs cannot be started', async () => {
      const failing = () => Promise.reject(new Error('the stream is away'));
      await expect(test.store.leases.hold('api', failing)).rejects.toThrow('the stream is away');
    });
  });
}
