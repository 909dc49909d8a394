/**
 * Guarantee, on Kafka: a response that freezes one sender after the other is put aside once two were ended, whichever they
 * were, or one of all roles twice: no sender that starts or takes the task over attempts it again.
 */
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { kafkaEnvironment } from '../../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../../support/kafka/suites.ts';
import {
  type AnsweringReceiver,
  startAnsweringReceiver,
} from '../../../support/receivers/answering-receiver.ts';
import { jsonEventOf } from '../../../support/records/events.ts';
import { FREEZING, type Launched, launch, linesOf } from '../../../support/service/frozen-service.ts';
import { MerchantClient } from '../../../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../../../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../../../support/service/system.ts';

const CASE_MS_MAX = 400_000;
const STEP_MS_MAX = 120_000;

await describeWithKafka('on Kafka, a response that freezes', (kafka) => {
  let setup: ServiceSetup;
  let receiver: AnsweringReceiver;
  let environment: Record<string, string>;
  const processes: Launched[] = [];

  const run = (roles: string, more: Record<string, string> = {}) => {
    const process = launch({ ...environment, HOOKRAIL_ROLES: roles, ...more });
    processes.push(process);
    return process;
  };
  const frozen = async (process: Launched) => {
    expect(await process.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(linesOf(process, 'stall_not_written')).toEqual([]);
    expect(linesOf(process, 'main_thread_ended')).toEqual([
      expect.objectContaining({ busy_with: 'attempt' }),
    ]);
  };
  const arrivalsAt = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

  beforeEach(async () => {
    setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1000' });
    receiver = await startAnsweringReceiver(setup.receiverCert);
    const HOOKRAIL_KEYRING = `${setup.dataDir}/keyring.json`;
    environment = { ...setup.environment, ...kafkaEnvironment(kafka, freshPrefix()), HOOKRAIL_KEYRING };
    receiver.answerAt('/poison', { status: 200, body: 'FREEZE' });
  }, CASE_MS_MAX);

  afterEach(async () => {
    for (const process of processes.splice(0)) await process.kill('SIGKILL');
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  }, CASE_MS_MAX);

  /** Expects the task in quarantine, a sender that goes on, and the task sent once it is put back. */
  async function isPutAside(api: Launched, merchant: MerchantClient, endpoint: string): Promise<void> {
    const { operationsUrl } = await api.running;
    const operator = (...argv: string[]) => toolAnswer(besides(environment, { operationsUrl }), ...argv);
    const record = await eventually(
      'the task is put aside',
      async () => (await operator('quarantine', 'list'))[0],
      STEP_MS_MAX,
    );
    expect(record).toMatchObject({ reason: 'attempt_stalled', endpointId: endpoint });
    await merchant.publish([jsonEventOf(setup.merchantId, 'fine')]);
    await eventually('other webhooks arrive', () => arrivalsAt('/fine').length >= 2, STEP_MS_MAX);
    const path = `/merchant/webhook-endpoints/${endpoint}/deliveries`;
    const held = await eventually('the delivery is shown as put aside', async () =>
      (await merchant.request('GET', path)).body.data.find(
        (one: { parked_reason: string | null }) => one.parked_reason === 'put_aside',
      ),
    );
    expect(held).toMatchObject({ delivery_uuid: record.deliveryId, next_attempt_at: null });
    const before = arrivalsAt('/poison').length;
    receiver.answerAt('/poison', { status: 200, body: 'fine' });
    expect(await operator('quarantine', 'replay', record.position)).toEqual({ replayed: 1 });
    await eventually('it is sent', () => arrivalsAt('/poison').length > before, STEP_MS_MAX);
  }

  it('two senders is put aside by the next one', { timeout: CASE_MS_MAX }, async () => {
    const api = run('api,recorder,router');
    const merchant = new MerchantClient(setup, () => api.service ?? { apiUrl: '' });
    await api.running;
    const first = run('sender', FREEZING);
    await first.running;
    const endpoint = await merchant.createEndpoint(`${receiver.url}/poison`, { subscribed_events: ['KYC'] });
    await merchant.createEndpoint(`${receiver.url}/fine`);
    const poison = jsonEventOf(setup.merchantId, 'poison', { type: 'KYC', subType: 'KYC_PENDING' });
    await merchant.publish([poison]);
    await frozen(first);
    // On another machine: nothing of the first one's is left.
    await frozen(run('sender', { ...FREEZING, HOOKRAIL_DATA_DIR: `${setup.dataDir}/other` }));
    run('sender', { ...FREEZING, HOOKRAIL_DATA_DIR: `${setup.dataDir}/third` });
    await isPutAside(api, merchant, endpoint.uuid);
    expect(arrivalsAt('/poison')).toHaveLength(3);
  });

  it('one of three senders after another is put aside by the third', { timeout: CASE_MS_MAX }, async () => {
    const api = run('api,recorder,router');
    const merchant = new MerchantClient(setup, () => api.service ?? { apiUrl: '' });
    await api.running;
    // Longer than a session: the next one takes the task over while the one before it still stands still.
    const more = { ...FREEZING, HOOKRAIL_STALL_SECONDS_MAX: '20' };
    const senders = [1, 2, 3].map((n) =>
      run('sender', { ...more, HOOKRAIL_DATA_DIR: `${setup.dataDir}/sender-${n}` }),
    );
    await Promise.all(senders.map(({ running }) => running));
    const ended: Launched[] = [];
    for (const each of senders) void each.ended.then(() => ended.push(each));
    const endpoint = await merchant.createEndpoint(`${receiver.url}/poison`, { subscribed_events: ['KYC'] });
    await merchant.createEndpoint(`${receiver.url}/fine`);
    const poison = jsonEventOf(setup.merchantId, 'poison', { type: 'KYC', subType: 'KYC_PENDING' });
    await merchant.publish([poison]);
    await eventually('two were ended', () => ended.length === 2, STEP_MS_MAX);
    for (const each of ended) await frozen(each);
    await isPutAside(api, merchant, endpoint.uuid);
    expect(arrivalsAt('/poison')).toHaveLength(3);
    expect(ended).toHaveLength(2);
  });

  it('one process of all roles twice is put aside when it starts again', {
    timeout: CASE_MS_MAX,
  }, async () => {
    const all = () => run('api,recorder,router,sender', FREEZING);
    let process = all();
    const merchant = new MerchantClient(setup, () => process.service ?? { apiUrl: '' });
    await process.running;
    const endpoint = await merchant.createEndpoint(`${receiver.url}/poison`, { subscribed_events: ['KYC'] });
    await merchant.createEndpoint(`${receiver.url}/fine`);
    const poison = jsonEventOf(setup.merchantId, 'poison', { type: 'KYC', subType: 'KYC_PENDING' });
    await merchant.publish([poison]);
    await frozen(process);
    process = all();
    await frozen(process);
    process = all();
    await process.running;
    await isPutAside(process, merchant, endpoint.uuid);
    expect(arrivalsAt('/poison')).toHaveLength(3);
  });
});
