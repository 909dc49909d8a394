/** A recorder's store in a process of its own: it records a prepared journal as fast as the store takes it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import type { Consumer, JournalSource } from '../../../services/broker/broker.ts';
import type { JournalBatch } from '../../../services/domain/journal.ts';
import { KeyRing } from '../../../services/keys/keyring.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { startRecorder } from '../../../services/recorder/recorder.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { answer } from '../child.ts';
import { wallClock } from '../measure.ts';
import { endpointsOf, type JournalLoad, makeJournal } from './journal-load.ts';

export interface RecorderPlace {
  readonly store: 'sqlite' | 'postgres';
  /** The file, or the URL. */
  readonly at: string;
}

export interface Recorded {
  readonly entries: number;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly cpuMs: number;
}

/** As production's by default. */
const HEALTH = { withoutSuccessMs: 120 * 3_600_000, failedAttempts: 20 };
const CONNECTIONS_MAX = 3;
const DAY_MS = 86_400_000;

let store: Store | undefined;
/** Of the key ring, which seals the endpoints that this process creates. */
const folder = mkdtempSync(join(tmpdir(), 'recorder-keys-'));
let journal: ReturnType<typeof makeJournal> = new Map();

answer({
  async open({ store: engine, at }: RecorderPlace) {
    const ring = join(folder, 'keyring.json');
    KeyRing.create(ring);
    const options = { clock: systemClock(), healthPolicy: HEALTH, keyRing: KeyRing.read(ring) };
    store =
      engine === 'sqlite'
        ? await openSqliteStore({ ...options, file: at })
        : await openPostgresStore({
            ...options,
            address: parsePostgresUrl(at, undefined),
            connectionsMax: CONNECTIONS_MAX,
            leafMs: DAY_MS,
          });
  },
  createEndpoints,
  prepare({ load, partitions }: { readonly load: JournalLoad; readonly partitions: readonly number[] }) {
    journal = makeJournal(load, wallClock(), (partition) => partitions.includes(partition));
  },
  record,
  async close() {
    await store?.close();
    rmSync(folder, { recursive: true });
  },
});

async function createEndpoints(load: JournalLoad): Promise<void> {
  for (const { merchantId, endpointId } of endpointsOf(load))
    await store?.endpoints.create(
      {
        uuid: endpointId,
        merchantId,
        url: `https://${endpointId}.example.com/`,
        description: '',
        subscribedEvents: null,
        apiVersion: '2.3.8',
        secret: { keyId: 'k1', ciphertext: '' },
        secretHint: '…abcd',
        publicKeySignature: false,
        legacy: false,
      },
      { at: wallClock(), actor: { kind: 'operator' }, quota: 1 },
    );
}

/** Records this part of each partition, from one share of its batches to another, as the recorder does. */
async function record({ from, to }: { readonly from: number; readonly to: number }): Promise<Recorded> {
  if (!store) throw new Error('the store is not open');
  const registry = new Registry();
  const source = new PreparedJournal(from, to);
  const cpu = process.cpuUsage();
  const startedAt = wallClock();
  await startRecorder({ broker: { journal: source }, store, clock: systemClock(), registry });
  const entries = await source.recorded;
  const { user, system } = process.cpuUsage(cpu);
  return { entries, from: startedAt, to: wallClock(), cpuMs: (user + system) / 1000 };
}

/** A part of the prepared journal, which is handed over as fast as it is recorded: one batch a partition at a time. */
class PreparedJournal implements JournalSource {
  readonly isFull = true;
  onAwaited = () => {};
  readonly #from: number;
  readonly #to: number;
  /** Resolves with the number of entries. */
  recorded: Promise<number> = Promise.resolve(0);

  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  async consume(handler: (batch: JournalBatch) => Promise<void>): Promise<Consumer> {
    const each = [...journal].map(async ([partition, batches]) => {
      const at = (share: number) => Math.floor(share * batches.length);
      let count = 0;
      for (const { first, entries } of batches.slice(at(this.#from), at(this.#to))) {
        await handler({ partition: `p${partition}`, first, last: first + entries.length - 1, entries });
        count += entries.length;
      }
      return count;
    });
    this.recorded = Promise.all(each).then((counts) => counts.reduce((sum, count) => sum + count, 0));
    return { pause() {}, resume() {}, stop: async () => 'drained' };
  }
}
