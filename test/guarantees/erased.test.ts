/**
 * Guarantee: what was erased is gone. After `entity erase` no file of the data directory has the entity's data, in no row
 * and in no unused part of a page: while the service runs, after it was stopped, and after it was killed in the middle.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../services/process/clock.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { remnantsOf } from '../support/records/remnants.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const OTHERS = 60;
const TEST_MS = 180_000;

let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service | null;
let merchant: MerchantClient;
/** In the data of one entity's events, and in what its receiver answers. */
let marker: string;
let entityId: string;
/** The paths at which the first two attempts fail. */
const isFailing = (path: string) => path.includes('late');

beforeEach(async () => {
  marker = `Erika ${randomUUID()} Mustermann`;
  entityId = randomUUID();
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '10000', HOOKRAIL_LOG_LEVEL: 'info' });
  receiver = await startLoggingReceiver(setup.receiverCert, ({ path, attempt }) =>
    isFailing(path) && attempt < 3 ? 500 : path.includes('never') ? 400 : 200,
  );
  await start();
  merchant = new MerchantClient(setup, () => service as Service);
});

afterEach(async () => {
  await service?.end('SIGKILL');
  await receiver.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  service = await startService(setup.environment);
}

async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const code = await service?.end(signal);
  service = null;
  if (signal === 'SIGTERM') expect(code).toBe(0);
}

const operator = (...argv: string[]) =>
  toolAnswer(
    service ? besides(setup.environment, service) : { ...setup.environment, HOOKRAIL_OPS_PORT: '1' },
    ...argv,
  );
const erase = (id = entityId) => operator('entity', 'erase', '--entity', id, '--yes');

/** An event whose data has the text, in a field that is shown to merchants. */
function eventWith(text: string, entity: string, seed = randomUUID()) {
  const event = jsonEventOf(setup.merchantId, seed, {
    type: 'KYC',
    subType: 'SOFT_KYC_FAILED',
    entityId: entity,
  });
  return { ...event, data: { ...event.data, kyc_enduser_error_message: text } };
}

/** Publishes events of many entities, the marked one's among them, and waits until all are over and recorded. */
async function deliverAll(rounds = 1): Promise<void> {
  for (const path of ['at-once', 'late'])
    await merchant.createEndpoint(`${receiver.url}/${path}-${randomUUID()}`);
  let published = 0;
  for (let round = 0; round < rounds; round += 1) {
    const events = Array.from({ length: OTHERS }, (_, n) =>
      n % 9 === 4
        ? eventWith(marker.repeat(1 + (n % 4) * 9), entityId)
        : eventWith(`other ${n} `.repeat(n + 1), randomUUID()),
    );
    published += events.length;
    for (let first = 0; first < events.length; first += 20)
      expect((await merchant.publish(events.slice(first, first + 20))).status).toBe(202);
  }
  await eventually('all is delivered and recorded', async () => {
    let delivered = 0;
    for (const { uuid } of (await merchant.request('GET', '/merchant/webhook-endpoints')).body.data) {
      for (let after = ''; ; ) {
        const path = `/merchant/webhook-endpoints/${uuid}/deliveries?status=delivered&limit=100${after}`;
        const { body } = await merchant.request('GET', path);
        delivered += body.data.length;
        if (!body.next_cursor) break;
        after = `&cursor=${encodeURIComponent(body.next_cursor)}`;
      }
    }
    return delivered >= 2 * published;
  });
}

const found = () => remnantsOf(setup.dataDir, marker);

it(
  'no file has it while the service runs, nor after it was stopped',
  async () => {
    await deliverAll();
    expect(found().length).toBeGreaterThan(1);
    expect(await erase()).toMatchObject({ events: 7, remains: [] });
    expect(found()).toEqual([]);
    await end('SIGTERM');
    expect(found()).toEqual([]);
    await start();
    await merchant.publish([eventWith(marker, entityId)]);
    await eventually('a planted copy is found', () => found().includes('store.db: content'));
  },
  TEST_MS,
);

it(
  'no file has it after the service was killed, whenever that was',
  async () => {
    await deliverAll(3);
    for (const afterMs of [0, 20, 60]) {
      const erasing = erase().catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await end('SIGKILL');
      await erasing;
      await start();
    }
    // Ordered already, unless each was killed before.
    await erase();
    await end('SIGKILL');
    expect(found()).toEqual([]);
  },
  TEST_MS,
);

it(
  'an order that was cut off is carried out at the next start, and leaves nothing',
  async () => {
    await deliverAll();
    await end('SIGKILL');
    const file = join(setup.dataDir, 'store.db');
    const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
    const store = await openSqliteStore({ file, clock: systemClock(), healthPolicy });
    await store.erasures.order(
      { entityId, merchantId: null },
      { at: Date.now(), actor: { kind: 'operator' } },
    );
    await store.close();
    await start();
    await eventually('it is carried out', () =>
      service?.output.some((line) => line.includes('erasure_finished')),
    );
    expect(found()).toEqual([]);
    await end('SIGTERM');
    expect(found()).toEqual([]);
  },
  TEST_MS,
);

it(
  'quarantined records and dead letters are gone, too',
  async () => {
    await merchant.createEndpoint(`${receiver.url}/never`);
    const unknown = eventWith(marker, entityId);
    const refused = { ...unknown, header: { ...unknown.header, merchantId: randomUUID() } };
    expect((await merchant.publish([eventWith(marker, entityId), refused])).status).toBe(202);
    await eventually('one is dead, one is quarantined', async () => {
      const [dead] = await operator('dead-letters', 'list');
      const [quarantined] = await operator('quarantine', 'list');
      return dead && quarantined;
    });
    expect(await erase()).toMatchObject({ removedRecords: 2 });
    expect(found()).toEqual([]);
    await end('SIGTERM');
    expect(found()).toEqual([]);
  },
  TEST_MS,
);

it(
  'a delivery that still waits is told with its date, and leaves nothing once it is over',
  async () => {
    let isOpen = false;
    await receiver.close();
    receiver = await startLoggingReceiver(setup.receiverCert, () => (isOpen ? 200 : 500));
    const { uuid } = await merchant.createEndpoint(`${receiver.url}/waits`);
    await operator('merchants', 'pause', setup.merchantId);
    await merchant.publish([eventWith(marker, entityId)]);
    await eventually('it waits', () => remnantsOf(setup.dataDir, marker).includes('broker.db: delayed'));
    const { remains } = await erase();
    expect(remains).toEqual([
      expect.stringMatching(/^deliveries that wait for a retry, in broker\.db: until \d{4}-/),
    ]);
    isOpen = true;
    await operator('merchants', 'resume', setup.merchantId);
    await eventually('it is delivered and recorded', async () => {
      const { body } = await merchant.request(
        'GET',
        `/merchant/webhook-endpoints/${uuid}/deliveries?status=delivered`,
      );
      return body.data.length === 1;
    });
    await end('SIGTERM');
    expect(found()).toEqual([]);
  },
  TEST_MS,
);

it(
  'a backup is named with its date, and a restore erases again what was erased since',
  async () => {
    await deliverAll();
    const backup = join(setup.dataDir, 'backups.of-today.db');
    await operator('store', 'backup', backup);
    const { remains } = await erase();
    expect(remains).toEqual([
      expect.stringMatching(
        /^the copy .*backups\.of-today\.db of \d{4}-.*: until it is deleted; store restore/,
      ),
    ]);
    const manifest = JSON.parse(readFileSync(`${backup}.manifest.json`, 'utf8'));
    expect(manifest).toMatchObject({
      backup: 'backups.of-today.db',
      erasedSince: [{ entityId, merchantId: null }],
    });
    expect(found()).toEqual(
      ['backups.of-today.db', 'backups.of-today.db: content', expect.anything()].slice(0, found().length),
    );
    await end('SIGTERM');
    // On another machine: only the backup and its manifest are there.
    for (const end of ['', '-wal', '-shm']) rmSync(join(setup.dataDir, `store.db${end}`), { force: true });
    expect(await operator('store', 'restore', backup)).toMatchObject({ erasedAgain: 1 });
    expect(found().filter((name) => !name.startsWith('backups.'))).toEqual([]);
    await start();
    const later = randomUUID();
    await merchant.publish([eventWith('later', later)]);
    await eventually('it is recorded', () => remnantsOf(setup.dataDir, later).length > 0);
    const after = await erase(later);
    expect(after.remains.join()).toContain('backups.of-today.db');
  },
  TEST_MS,
);

it(
  'unused parts of files are cleared at the start where that is due, or by store vacuum',
  async () => {
    await deliverAll();
    await end('SIGTERM');
    const leave = () => {
      for (const name of ['store.db', 'broker.db']) {
        const db = new Database(join(setup.dataDir, name));
        db.pragma('secure_delete = OFF');
        db.exec('CREATE TABLE former (text TEXT)');
        for (let n = 0; n < 300; n += 1) db.prepare('INSERT INTO former VALUES (?)').run(marker.repeat(9));
        db.exec('DROP TABLE former');
        if (name === 'store.db') db.exec("UPDATE meta SET value = 1 WHERE name = 'purge_due'");
        db.close();
      }
    };
    await start();
    await erase();
    await end('SIGTERM');
    expect(found()).toEqual([]);
    leave();
    expect(found()).toEqual(expect.arrayContaining(['store.db', 'broker.db']));
    await start();
    expect(found()).not.toContain('store.db');
    await end('SIGTERM');
    leave();
    expect(await operator('store', 'vacuum')).toEqual({
      written: [join(setup.dataDir, 'store.db'), join(setup.dataDir, 'broker.db')],
    });
    expect(found()).toEqual([]);
    await start();
    const running = besides(setup.environment, service as Service);
    expect(await runTool(running, 'store', 'vacuum')).toMatchObject({
      code: 1,
      err: expect.stringContaining('in use'),
    });
  },
  TEST_MS,
);
