/**
 * Guarantee: the store and the directory stream agree again when either was replaced. A store that was restored from
 * a backup sends nothing again, brings no deleted endpoint back and keeps endpoints made since; a new stream gets
 * everything. The whole service runs, with real files and real HTTPS.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { Embedded } from '../support/service/embedded.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

let setup: ServiceSetup;
const embedded = new Embedded();
let receiver: LoggingReceiver;
let merchant: MerchantClient;

beforeEach(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  merchant = new MerchantClient(setup, running);
  await start();
});

afterEach(async () => {
  await stop();
  await receiver.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const running = () => embedded.running;
const start = () => embedded.start(setup.environment);
const stop = () => embedded.stop();

async function operator(...argv: string[]): Promise<string> {
  const { environment } = setup;
  const { hookrail } = embedded;
  const where = hookrail ? besides(environment, hookrail) : { ...environment, HOOKRAIL_OPS_PORT: '1' };
  const { code, out, err } = await runTool(where, ...argv);
  expect([code, err]).toEqual([0, '']);
  return out;
}

const resource = (uuid: string) => `/merchant/webhook-endpoints/${uuid}`;
const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

/** Publishes one event and waits until it is at these paths. */
async function deliver(name: string, paths: readonly string[]): Promise<string> {
  const event = jsonEventOf(setup.merchantId, name);
  expect((await merchant.publish([event])).status).toBe(202);
  await eventually(`the webhook ${name} arrives at ${paths}`, () =>
    paths.every((path) => at(path).some(({ eventId }) => eventId === event.header.eventId)),
  );
  return event.header.eventId;
}

it('a restored store resends nothing, resurrects nothing, and keeps later endpoints', async () => {
  const kept = await merchant.createEndpoint(`${receiver.url}/kept`);
  const deleted = await merchant.createEndpoint(`${receiver.url}/deleted`);
  await deliver('before the backup', ['/kept', '/deleted']);
  const backup = join(setup.dataDir, 'backup.db');
  expect(await operator('store', 'backup', backup)).toContain(backup);

  const rotated = await merchant.request('PATCH', `${resource(kept.uuid)}/secret`);
  expect((await merchant.request('DELETE', resource(deleted.uuid))).status).toBe(204);
  const made = await merchant.createEndpoint(`${receiver.url}/made`);
  await deliver('after the backup', ['/kept', '/made']);
  const before = receiver.arrivals.length;
  await stop();
  expect(await operator('store', 'restore', backup)).toContain('store.db.before-restore');
  await start();

  expect((await merchant.request('GET', resource(deleted.uuid))).status).toBe(404);
  const found = await merchant.request('GET', resource(made.uuid));
  expect(found.body).toMatchObject({ url: `${receiver.url}/made`, status: 'active' });
  const eventId = await deliver('after the restore', ['/kept', '/made']);
  expect(receiver.arrivals.slice(before).map((arrival) => arrival.eventId)).toEqual([eventId, eventId]);
  expect(at('/kept').at(-1)?.authorization).toBe(`API-Key ${rotated.body.signing_secret}`);
  expect(at('/made').at(-1)?.authorization).toBe(`API-Key ${made.signing_secret}`);
  await eventually('the delivery log continues', async () => {
    const { body } = await merchant.request('GET', `${resource(kept.uuid)}/deliveries`);
    return body.data.some(
      (delivery: { event_uuid: string; status: string }) =>
        delivery.event_uuid === eventId && delivery.status === 'delivered',
    );
  });
  const again = await merchant.request('PATCH', resource(made.uuid), { description: 'changed' });
  expect(again.status).toBe(200);
});

it('a new directory stream gets all merchants and endpoints from the store', async () => {
  const endpoint = await merchant.createEndpoint(`${receiver.url}/all`);
  await merchant
    .createEndpoint(`${receiver.url}/gone`)
    .then(({ uuid }) => merchant.request('DELETE', resource(uuid)));
  await stop();
  for (const end of ['', '-wal', '-shm']) {
    rmSync(join(setup.dataDir, `broker.db${end}`), { force: true });
  }
  await start();
  await deliver('the first event after it', ['/all']);
  expect(at('/all').at(-1)?.authorization).toBe(`API-Key ${endpoint.signing_secret}`);
  expect(at('/gone')).toEqual([]);
});
