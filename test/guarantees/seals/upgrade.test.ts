/**
 * Guarantee: a store and a directory stream that the build before seals has written get their seals at the first start,
 * and no record without a seal is taken afterwards. That build makes the files, in a process of its own.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { eventually } from '../../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { eventOf } from '../../support/records/events.ts';
import { type Build, earlierBuild } from '../../support/service/earlier-build.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';

const LAYOUT = 'services/store/sqlite/migrations/014-seals.ts';
const MAKING_MS_MAX = 60_000;
let setup: ServiceSetup;
let receiver: LoggingReceiver | undefined;
let hookrail: Hookrail | undefined;

afterEach(async () => {
  await hookrail?.stop();
  await receiver?.close();
  if (setup) rmSync(setup.dataDir, { recursive: true, force: true });
});

/** The last build without seals. Throws where the clone does not have it. */
function buildWithoutSeals(): Build {
  const added = ['log', '--diff-filter=A', '--format=%H', '-1', '--', LAYOUT];
  return earlierBuild(`${execFileSync('git', added).toString().trim()}~1`);
}

/** Makes a merchant and an endpoint whose secret is returned, in the store and on the stream. */
function makeBy({ folder }: Build, url: string): string {
  const script = join(folder, 'make-data.ts');
  writeFileSync(
    script,
    `import { openSqliteBroker } from './services/broker/sqlite/sqlite-broker.ts';
     import { newSecret } from './services/domain/secret.ts';
     import { KeyRing } from './services/keys/keyring.ts';
     import { systemClock } from './services/process/clock.ts';
     import { openSqliteStore } from './services/store/sqlite/sqlite-store.ts';
     const [dataDir, merchantId, url] = process.argv.slice(2);
     const clock = systemClock();
     const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
     const store = await openSqliteStore({ file: dataDir + '/store.db', clock, healthPolicy });
     const uuid = crypto.randomUUID();
     const plain = newSecret(crypto.getRandomValues(new Uint8Array(32)));
     const secret = KeyRing.read(dataDir + '/keyring.json').seal(plain, uuid);
     await store.merchants.create({ merchantId, name: 'Early', senderAccountDetails: false });
     await store.endpoints.create(
       { uuid, merchantId, url, description: '', subscribedEvents: null, apiVersion: '2.3.8', secret, secretHint: '…', legacy: false },
       { at: clock.wall(), actor: { kind: 'operator' }, quota: 10 },
     );
     const broker = await openSqliteBroker({ file: dataDir + '/broker.db', clock, retryScale: 1 });
     const pending = await store.outbox.pending(10);
     await broker.publishDirectory(pending.map(({ change }) => change));
     await store.outbox.published(pending.map(({ outboxId }) => outboxId));
     await broker.close();
     await store.close();
     process.stdout.write(plain);`,
  );
  // The keys of the API stay: they are in no record of the directory.
  const argv = ['--import', 'tsx', script, setup.dataDir, `${setup.merchantId}-early`, url];
  return execFileSync(process.execPath, argv, { cwd: folder, timeout: MAKING_MS_MAX }).toString();
}

function changeStore(sql: string): void {
  const db = new Database(join(setup.dataDir, 'store.db'));
  expect(db.prepare(sql).run().changes).toBeGreaterThan(0);
  db.close();
}

async function refused(): Promise<string> {
  const text = await (await fetch(`${hookrail?.operationsUrl}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('hookrail_directory_refused_total{'))
    .join();
}

it('files of the build before get their seals once, and no record without one is taken afterwards', async ({
  skip,
}) => {
  let build: Build;
  try {
    build = buildWithoutSeals();
  } catch (error) {
    return skip(String(error));
  }
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  const arrivals = (path: string) => receiver?.arrivals.filter((arrival) => arrival.path === path) ?? [];
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  // prepareSetup has made a file of the present layout.
  for (const end of ['', '-wal', '-shm', '.lock'])
    rmSync(join(setup.dataDir, `store.db${end}`), { force: true });
  const secret = makeBy(build, `${receiver.url}/early`);
  rmSync(dirname(build.folder), { recursive: true, force: true });
  const deliver = async (seed: string) => {
    const event = eventOf(`${setup.merchantId}-early`, seed);
    await hookrail?.broker.publishEvents([event]);
    await eventually(`the webhook ${seed} arrives`, () =>
      arrivals('/early').find(({ eventId }) => eventId === event.eventId),
    );
  };
  hookrail = await startHookrail(setup.environment);
  await deliver('after the upgrade');
  expect(arrivals('/early').at(-1)?.authorization).toBe(`API-Key ${secret}`);
  expect(await refused()).toBe('');
  // The merchant, the endpoint, and the record that says that all are sealed.
  expect(await hookrail.store.sealings.recordCounts()).toEqual([{ keyId: 'k1', records: 3 }]);
  await hookrail.stop();
  // As before the upgrade: no seal, and not even that record.
  changeStore(`DELETE FROM endpoint WHERE uuid = 'directory-sealed'`);
  changeStore(
    `UPDATE endpoint SET url = '${receiver.url}/evil', version = 90, seal_key_id = NULL, seal_version = NULL, seal_mac = NULL`,
  );
  hookrail = await startHookrail(setup.environment);
  await deliver('after the forgery');
  expect(arrivals('/evil')).toEqual([]);
  expect(await refused()).toContain('reason="unsealed"');
}, 180_000);
