import { Gauge, type Registry } from 'prom-client';
import { LEASE_NAMES } from '../store/leases.ts';
import type { Store } from '../store/store.ts';

const STATES = ['in_use', 'idle', 'waiting'] as const;

/** Registers the store's metrics. Their values come from memory: a scrape contacts no other server. */
export function observeStore(registry: Registry, store: Pick<Store, 'status'>): void {
  const registers = [registry];
  new Gauge({
    name: 'hookrail_store_reachable',
    help: '1 while the store can be written to, otherwise 0.',
    registers,
    collect() {
      this.set(store.status().reachable ? 1 : 0);
    },
  });
  new Gauge({
    name: 'hookrail_store_leases',
    help: '1 while this process does the jobs that one process does for all, by lease, otherwise 0.',
    labelNames: ['lease'],
    registers,
    collect() {
      const { leases } = store.status();
      for (const lease of LEASE_NAMES) this.set({ lease }, leases.includes(lease) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'hookrail_store_connections',
    help: 'Connections to PostgreSQL that are in use or idle, and calls waiting for one; 0 on SQLite.',
    labelNames: ['state'],
    registers,
    collect() {
      const { connections } = store.status();
      const { inUse = 0, idle = 0, waiting = 0 } = connections ?? {};
      for (const [at, value] of [inUse, idle, waiting].entries())
        this.set({ state: STATES[at] ?? '' }, value);
    },
  });
}
