/**
 * Guarantee: whoever can write the directory stream or the database, and has no key ring, gets no webhook and no secret by
 * it. The whole service runs, with real files and real HTTPS; the records are forged by the engines' own writers.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openSqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { Directory, type DirectoryChange } from '../../../services/domain/directory.ts';
import type { Endpoint } from '../../../services/domain/endpoint.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { Embedded } from '../../support/service/embedded.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { besides, runTool } from '../../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';

/** Starts and stops take long on a busy machine. */
const START_MS_MAX = 120_000;
const TRIAL_MS_MAX = 300_000;
const ARRIVES_MS_MAX = 60_000;

vi.setConfig({ testTimeout: TRIAL_MS_MAX });

let setup: ServiceSetup;
const embedded = new Embedded();
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let endpoint: { uuid: string; url: string; signing_secret: string };

beforeEach(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  merchant = new MerchantClient(setup, running);
  await start();
  endpoint = await merchant.createEndpoint(`${receiver.url}/good`);
  await merchant.createEndpoint(`${receiver.url}/sibling`);
}, START_MS_MAX);

afterEach(async () => {
  await stop();
  await receiver.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
}, START_MS_MAX);

const running = () => embedded.running;
const start = () => embedded.start(setup.environment);
const stop = () => embedded.stop();

const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);
const evilUrl = () => `${receiver.url}/evil`;
const path = () => `/merchant/webhook-endpoints/${endpoint.uuid}`;

/** Publishes one event, and waits until it has arrived at a path. */
async function deliver(name: string, to = '/good'): Promise<void> {
  const event = jsonEventOf(setup.merchantId, name);
  expect((await merchant.publish([event])).status).toBe(202);
  await eventually(
    `the webhook ${name} arrives at ${to}`,
    () => at(to).some(({ eventId }) => eventId === event.header.eventId),
    ARRIVES_MS_MAX,
  );
}

/** The counter of refused records, by place and reason. */
async function refused(): Promise<string[]> {
  const text = await (await fetch(`${running().operationsUrl}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('hookrail_directory_refused_total{'));
}

/** Writes the directory stream while the service is stopped: its records, and one made of each by `forge`. */
async function forgeStream(forge: (known: DirectoryChange) => DirectoryChange | null): Promise<void> {
  const broker = await openSqliteBroker({
    file: join(setup.dataDir, 'broker.db'),
    clock: systemClock(),
    retryScale: 1,
  });
  const directory = new Directory();
  const follower = await broker.followDirectory((change) => directory.apply(change));
  const forged = [...directory.all()].flatMap((known) => forge(known) ?? []);
  expect(forged).not.toEqual([]);
  await broker.publishDirectory(forged);
  await follower.close();
  await broker.close();
}

/** Changes the database while the service is stopped. */
function changeStore(sql: string): void {
  const db = new Database(join(setup.dataDir, 'store.db'));
  expect(db.prepare(sql).run().changes).toBeGreaterThan(0);
  db.close();
}

const moved = (known: DirectoryChange, version: number): DirectoryChange | null => {
  if (known.id !== endpoint.uuid || known.kind !== 'endpoint' || !known.value) return null;
  return { ...known, version, value: { ...(known.value as Endpoint), url: evilUrl(), version } };
};

describe('a record of the directory stream with a higher version and another URL', () => {
  const WITHOUT: readonly [string, (known: DirectoryChange) => DirectoryChange | null][] = [
    ['the old seal', (known) => moved(known, 900)],
    [
      'the old seal for the new version',
      (known) => {
        const change = moved(known, 900);
        return change?.seal ? { ...change, seal: { ...change.seal, version: 900 } } : null;
      },
    ],
    [
      'no seal',
      (known) => {
        const { seal: _, ...change } = moved(known, 900) ?? known;
        return change.id === endpoint.uuid ? (change as DirectoryChange) : null;
      },
    ],
  ];

  it.each(WITHOUT)('with %s moves no webhook, and reaches no store', async (_how, forge) => {
    await deliver('before');
    await stop();
    await forgeStream(forge);
    await start();
    await deliver('after');
    expect(at('/evil')).toEqual([]);
    expect(at('/good').at(-1)?.authorization).toBe(`API-Key ${endpoint.signing_secret}`);
    expect((await merchant.request('GET', path())).body.url).toBe(`${receiver.url}/good`);
    expect((await refused()).join()).toContain('place="stream"');
    // A change of its own merchant is in force again.
    await merchant.request('PATCH', path(), { url: `${receiver.url}/other` });
    await deliver('after its change', '/other');
  });

  it('a forged deletion, pause or entitlement is refused as well', async () => {
    await stop();
    await forgeStream((known) => {
      if (known.id === endpoint.uuid) return { ...known, version: 70, value: null } as DirectoryChange;
      if (known.kind !== 'merchant' || !known.value) return null;
      return { ...known, version: 70, value: { ...known.value, version: 70, state: 'paused' } };
    });
    await start();
    await deliver('after');
    expect((await merchant.request('GET', path())).status).toBe(200);
    expect(await refused()).toHaveLength(1);
  });
});

describe('a row that was changed in the database', () => {
  const set = (what: string) => `UPDATE endpoint SET ${what} WHERE uuid = '${endpoint.uuid}'`;

  it.each<[string, () => string]>([
    ['the URL', () => set(`url = '${evilUrl()}'`)],
    ['URL and version', () => set(`url = '${evilUrl()}', version = version + 5`)],
    [
      'the seal, to none',
      () => set(`url = '${evilUrl()}', version = 9, seal_key_id = NULL, seal_mac = NULL`),
    ],
    [
      'the secret, by that of a sibling',
      () =>
        set(
          `secret_ciphertext = (SELECT secret_ciphertext FROM endpoint WHERE url LIKE '%/sibling'), version = 9`,
        ),
    ],
    ['the filter', () => set(`subscribed_events = '[]', version = 9`)],
    ['the status', () => set(`status = 'disabled', version = 9`)],
    ['the merchant', () => set(`merchant_id = 'another', version = 9`)],
  ])('%s: nothing of it is published, and a start puts it back', async (_what, sql) => {
    await stop();
    changeStore(sql());
    await start();
    await deliver('after');
    expect(at('/evil')).toEqual([]);
    expect(at('/good').at(-1)?.authorization).toBe(`API-Key ${endpoint.signing_secret}`);
    expect((await refused()).join()).toContain('place="store"');
    expect((await merchant.request('GET', path())).body).toMatchObject({
      url: `${receiver.url}/good`,
      status: 'active',
    });
    const changed = await merchant.request('PATCH', path(), { description: 'mine' });
    expect(changed.status).toBe(200);
  });

  it('in the outbox is not published: a forged row, an old state switched off, an old deletion', async () => {
    const old = running().store;
    const page = await old.outbox.snapshot({ kind: 'endpoint', row: 0 }, 100);
    const first = page.changes.find(({ id }) => id === endpoint.uuid);
    await merchant.request('PATCH', path(), { url: `${receiver.url}/second` });
    await deliver('to the second', '/second');
    await stop();
    if (first?.kind !== 'endpoint' || !first.value) throw new Error('there is no endpoint');
    const off = { ...first, version: 50, value: { ...first.value, version: 50, status: 'auto_disabled' } };
    for (const change of [moved(first, 40), off, { ...first, version: 41, value: null }]) {
      const db = new Database(join(setup.dataDir, 'store.db'));
      db.prepare('INSERT INTO outbox (change) VALUES (?)').run(JSON.stringify(change));
      db.close();
    }
    await start();
    await deliver('after', '/second');
    expect(at('/evil')).toEqual([]);
    expect((await refused()).join()).toContain('reason="old_base"');
  });
});

it('an old record that is written again changes nothing', async () => {
  const { changes } = await running().store.outbox.snapshot({ kind: 'endpoint', row: 0 }, 100);
  const first = changes.find(({ id }) => id === endpoint.uuid);
  await merchant.request('PATCH', path(), { url: `${receiver.url}/second` });
  await deliver('to the second', '/second');
  const count = at('/good').length;
  await stop();
  await forgeStream((known) => (known.id === endpoint.uuid && first ? first : null));
  await start();
  await deliver('after', '/second');
  expect(at('/good')).toHaveLength(count);
});

it('a new key of the ring seals everything, and the old one can go', async () => {
  await merchant.request('DELETE', path());
  const operator = async (...argv: string[]) => {
    const { code, out, err } = await runTool(
      besides(setup.environment, running()),
      ...argv,
      '--output',
      'json',
    );
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out);
  };
  const { added } = await operator('keyring', 'add');
  const rewrapped = await operator('keyring', 'rewrap');
  // The merchant and the deletion.
  expect(rewrapped).toMatchObject({ active: added, endpoints: 1, records: 2 });
  const [former] = await operator('keyring', 'list');
  expect(former).toMatchObject({ id: 'k1', endpoints: 0, records: 0 });
  await operator('keyring', 'remove', '--id', 'k1');
  await stop();
  await start();
  await deliver('without the old key', '/sibling');
  expect(await refused()).toEqual([]);
});
