import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { storeContract } from '../../contract/store.contract.ts';
import { type StorePlace, TEST_POLICY } from '../../contract/store-place.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

/** A directory of its own. A crash ends the store's threads wherever they are, without a word to them. */
async function makePlace(): Promise<StorePlace> {
  const directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  const threads = new Map<Store, Worker[]>();
  return {
    async open() {
      const started: Worker[] = [];
      const note = (worker: Worker) => started.push(worker);
      process.on('worker', note);
      try {
        const file = join(directory, 'store.db');
        const store = await openSqliteStore({
          file,
          clock: systemClock(),
          healthPolicy: TEST_POLICY,
          keyRing: TEST_RING,
        });
        threads.set(store, started);
        return store;
      } finally {
        process.off('worker', note);
      }
    },
    async crash(store) {
      await Promise.all((threads.get(store) ?? []).map((worker) => worker.terminate()));
    },
    dispose: () => rm(directory, { recursive: true }),
  };
}

storeContract('sqlite', makePlace);
