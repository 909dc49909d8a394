/**
 * Guarantee: with several apis on one PostgreSQL the command lines need no particular one. The simulator's commands work at
 * the address of a load balancer, and the operator's on a machine where no service runs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../simulator/exit.ts';
import { openAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithKafka } from '../support/kafka/suites.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { inForce } from '../support/service/in-force.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { startTwoApis, type TwoApis, type TwoApisOptions } from '../support/service/two-apis.ts';
import { simHere } from './support/command-line.ts';
import { type OwnApp, startOwnApp } from './support/own-app.ts';
import { itemsOf, runSim } from './support/running-sim.ts';

const START_MS = 240_000;
const TIMEOUT_MS = 120_000;
/** A replay waits up to 30 s for its last deliveries. */
const REPLAYED_MS = 60_000;
const ENDPOINTS = '/merchant/webhook-endpoints';

await describeWithKafka('two apis with Kafka', (kafka) =>
  describeWithPostgres('on one PostgreSQL', (createDatabase) => suite({ kafka, createDatabase })),
);

function suite(place: Pick<TwoApisOptions, 'kafka' | 'createDatabase'>): void {
  let apis: TwoApis;
  let app: OwnApp;
  let folder: string;
  let access: Record<string, string>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookrail-two-apis-'));
    await openAuthority(folder);
    app = await startOwnApp();
    const environment = { HOOKRAIL_EXTRA_CA_FILE: join(folder, 'ca.crt') };
    apis = await startTwoApis({ ...place, environment, delivers: true });
    access = {
      HOOKRAIL_DATA_DIR: folder,
      HOOKRAIL_BASE_URL: apis.balancer.apiUrl,
      HOOKRAIL_API_KEY: apis.setup.apiKey,
      HOOKRAIL_PRODUCER_KEY: apis.setup.producerKey,
      HOOKRAIL_MERCHANT_ID: apis.setup.merchantId,
    };
  }, START_MS);
  afterAll(async () => {
    await apis?.dispose();
    await app?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('behind one address', () => {
    const running: ReturnType<typeof runSim>[] = [];
    afterAll(async () => {
      for (const each of running) await each.stop();
    });
    const start = (line: string) => {
      const sim = runSim([...line.split(' '), '--output', 'ndjson'], access);
      running.push(sim);
      return sim;
    };

    async function type(line: string) {
      const { code, stdout, stderr } = await simHere([...line.split(' '), '--output', 'ndjson'], access);
      expect(code, `${line}: ${stderr}`).toBe(EXIT.ok);
      return itemsOf(stdout) as { readonly [name: string]: unknown }[];
    }

    test('serve listen, trigger, the tails and the lists', { timeout: TIMEOUT_MS }, async () => {
      const listening = start(`listen --forward-to ${app.url}`);
      await listening.item<{ kind: string }>('ready', ({ kind }) => kind === 'ready');
      const [deliveries, events] = [start('deliveries tail'), start('events tail')];
      await inForce();
      for (let n = 1; n <= 4; n += 1) {
        const items = await type('trigger KYC/FULL_USER --wait 60s');
        const { event_uuid: eventId } = items.find((item) => 'event_uuid' in item) ?? {};
        expect(items).toContainEqual(expect.objectContaining({ status: 'delivered' }));
        const isOfIt = (item: object) => JSON.stringify(item).includes(`${eventId}`);
        await Promise.all([listening, deliveries, events].map((each) => each.item('the event', isOfIt)));
        expect((await app.received(n)).length).toBe(n);
      }
      expect(await type('deliveries list --limit 3')).toHaveLength(3);
      expect(await type('events list --limit 3')).toHaveLength(3);
      expect(await type('endpoints list')).toHaveLength(1);
      await type('run onramp.happy --speed instant --wait 60s');
    });
  });

  describe('served by an operator elsewhere', () => {
    const away = () => ({ ...apis.fleet.environment, HOOKRAIL_DATA_DIR: join(folder, 'nothing') });
    const json = (...argv: string[]) => toolAnswer(away(), ...argv);

    test('accept a merchant and a key that were made', async () => {
      const { merchantId } = await json('merchants', 'create', '--name', 'Made elsewhere');
      const { key, keyId } = await json('keys', 'create', '--merchant', merchantId);
      const clientOf = (api: { readonly apiUrl: string }) =>
        new MerchantClient({ ...apis.setup, merchantId, apiKey: key }, () => api);
      for (const { service } of apis.fleet.of('api'))
        expect((await clientOf(service).request('GET', ENDPOINTS)).status).toBe(200);
      const { uuid } = await clientOf(apis.balancer).createEndpoint('https://127.0.0.1:9/made');
      await json('merchants', 'pause', merchantId);
      const listed = await json('merchants', 'list');
      expect(listed).toContainEqual(expect.objectContaining({ merchantId, state: 'paused' }));
      const audit = await json('audit', 'list', '--merchant', merchantId);
      expect(audit).toMatchObject([
        { action: 'merchant.update', actor: 'operator' },
        { action: 'endpoint.create', actor: 'api_key', endpointId: uuid },
        { action: 'api_key.create' },
        { action: 'merchant.create' },
      ]);
      const isUsed = async () =>
        (await json('keys', 'list')).some(
          (each: { keyId: string; lastUsedAt: string | null }) => each.keyId === keyId && each.lastUsedAt,
        );
      await eventually('the use of the key is listed', isUsed);
    });

    test('erase, seal anew and replay', { timeout: TIMEOUT_MS }, async () => {
      const { merchant, setup } = apis;
      const event = jsonEventOf(setup.merchantId, 'erased elsewhere');
      const path = `/merchant/events/${event.header.eventId}`;
      await merchant.publish([event]);
      await eventually(
        'the event is recorded',
        async () => (await merchant.request('GET', path)).status === 200,
      );
      const erased = await json('entity', 'erase', '--entity', event.header.entityId, '--yes');
      expect(erased).toMatchObject({ events: 1 });
      for (const api of [apis.one, apis.two])
        expect((await api.request('GET', path)).body).toMatchObject({ body: null, body_removed: true });

      const { added } = await json('keyring', 'add');
      // Until an api has met the new key it seals with the former one: rewrap is repeated, as remove asks for.
      const isSealedAnew = async () => {
        expect(await json('keyring', 'rewrap')).toMatchObject({ active: added });
        for (const api of [apis.one, apis.two])
          await api.createEndpoint(`https://127.0.0.1:9/${crypto.randomUUID()}`);
        const [former] = await json('keyring', 'list');
        expect(former.id).toBe('k1');
        return former.endpoints === 0;
      };
      await eventually('both apis seal with the new key', isSealedAnew);
      expect(await json('keyring', 'remove', '--id', 'k1')).toMatchObject({ removed: 'k1' });

      const since = new Date(Date.now() - 3_600_000).toISOString();
      const { replayId } = await json('replay', 'start', '--since', since, '--only', 'failed');
      const isCompleted = async () => (await json('replay', 'get', replayId)).status === 'completed';
      await eventually('the replay is completed', isCompleted, REPLAYED_MS);
    });

    test('are shown by the other commands', { timeout: TIMEOUT_MS }, async () => {
      expect(await json('store', 'migrate')).toEqual({ from: expect.anything(), to: expect.anything() });
      const backup = await runTool(away(), 'store', 'backup', join(folder, 'backup.db'));
      expect([backup.code, backup.err]).toEqual([1, expect.stringContaining('base backup')]);
      expect(await json('dead-letters', 'list')).toEqual([]);
      expect(await json('quarantine', 'summary')).toEqual([]);
      expect(await json('streams', 'list')).toEqual(expect.any(Array));
      const [recorder] = apis.fleet.of('recorder');
      const addresses = apis.fleet.processes.map(({ service }) => service.operationsUrl);
      const status = await toolAnswer(
        besides(away(), recorder?.service ?? { operationsUrl: '' }),
        'status',
        ...addresses,
      );
      expect(status.processes.map(({ ready }: { ready: boolean }) => ready)).toEqual(Array(6).fill(true));
    });
  });
}
