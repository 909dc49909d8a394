/**
 * Guarantee: an endpoint that answers 410, or only fails for long enough, is disabled with the reason on its record,
 * and its merchant can activate it again. A failure at a previous URL never disables it. The whole service runs, with
 * real files and real HTTPS; the policy's 24 hours are 3.6 seconds here.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const WITHOUT_SUCCESS_MS = 3600;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
/** What the receiver answers, by path; 500 otherwise. A promise holds the request until it is resolved. */
const answers = new Map<string, number | Promise<number>>();

beforeAll(async () => {
  setup = await prepareSetup({
    // A whole schedule takes two thirds of a second.
    HOOKRAIL_RETRY_SCALE: '100000',
    HOOKRAIL_AUTO_DISABLE_HOURS: `${WITHOUT_SUCCESS_MS / 3_600_000}`,
    HOOKRAIL_AUTO_DISABLE_ATTEMPTS: '5',
    HOOKRAIL_LOG_LEVEL: 'silent',
  });
  receiver = await startLoggingReceiver(setup.receiverCert, ({ path }) => answers.get(path) ?? 500);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const at = (path: string) => receiver.arrivals.filter((arrival) => arrival.path === path);

/** One endpoint of its own type of event, so that the tests' events do not meet. */
async function endpointAt(path: string) {
  const made = await merchant.createEndpoint(receiver.url + path);
  const madeAt = Date.now();
  const resource = `/merchant/webhook-endpoints/${made.uuid}`;
  const read = async () => (await merchant.request('GET', resource)).body;
  const patch = (change: object) => merchant.request('PATCH', resource, change);
  const deliveries = async (query = '') =>
    (await merchant.request('GET', `${resource}/deliveries${query}`)).body.data;
  const publish = async (seed: string) => {
    const event = jsonEventOf(setup.merchantId, `${path} ${seed}`);
    expect((await merchant.publish([event])).status).toBe(202);
    return event.header.eventId;
  };
  const policyTimeIsOver = () =>
    eventually('the period without a success is over', () => Date.now() > madeAt + WITHOUT_SUCCESS_MS + 200);
  const remove = () => merchant.request('DELETE', resource);
  return { ...made, resource, read, patch, deliveries, publish, policyTimeIsOver, remove };
}

/** Fails a whole schedule, then has one more attempt under way when the policy's time is over. */
async function onTheBrink(path: string) {
  const endpoint = await endpointAt(path);
  await endpoint.publish('exhausted');
  await eventually('seven failures are recorded', async () => (await endpoint.read()).failure_count === 7);
  expect((await endpoint.read()).status).toBe('active');
  let release = (_status: number) => {};
  answers.set(
    path,
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  await endpoint.policyTimeIsOver();
  const eventId = await endpoint.publish('held');
  await eventually('the attempt is under way', () => receiver.inFlight() > 0);
  const recorded = () =>
    eventually('the attempt is recorded', async () => {
      const all: { event_uuid: string; attempts_made: number }[] = await endpoint.deliveries();
      return all.find((each) => each.event_uuid === eventId && each.attempts_made > 0);
    });
  return { ...endpoint, release, recorded };
}

describe('an endpoint is disabled automatically', () => {
  it('after failing for long enough, with the time, the reason and the last failure', async () => {
    const endpoint = await onTheBrink('/failing');
    endpoint.release(503);
    const record = await eventually('the endpoint is disabled', async () => {
      const seen = await endpoint.read();
      return seen.status === 'auto_disabled' && seen;
    });
    expect(record).toMatchObject({
      disabled_reason: 'consecutive_failures',
      failure_count: 8,
      last_success_at: null,
      last_failure: { code: 'http_5xx', response_status: 503 },
    });
    expect(Date.parse(record.disabled_at)).toBeGreaterThanOrEqual(
      Date.parse(record.created_at) + WITHOUT_SUCCESS_MS,
    );
    await endpoint.remove();
  });

  it('at once by a 410: waiting deliveries are cancelled and new events skipped, each with the reason', async () => {
    const endpoint = await endpointAt('/gone');
    const waiting = await endpoint.publish('waiting');
    await eventually('the last retry waits', () => at('/gone').length >= 6);
    answers.set('/gone', 410);
    await endpoint.publish('gone');
    const record = await eventually('the endpoint is disabled', async () => {
      const seen = await endpoint.read();
      return seen.status === 'auto_disabled' && seen;
    });
    expect(record).toMatchObject({
      disabled_reason: 'gone',
      last_failure: { code: 'endpoint_gone', response_status: 410 },
    });
    const first = await eventually('the other delivery has ended', async () => {
      const all: { event_uuid: string; status: string; cancel_reason: string }[] =
        await endpoint.deliveries();
      return all.find(
        ({ event_uuid, status }) => event_uuid === waiting && !['pending', 'failed'].includes(status),
      );
    });
    // Its last retry may have been the one that got the 410.
    if (first.status === 'cancelled') expect(first.cancel_reason).toBe('endpoint_auto_disabled');
    const skipped = await endpoint.publish('skipped');
    const trace = await eventually('the routing trace shows the skip', async () => {
      const { status, body } = await merchant.request('GET', `/merchant/events/${skipped}`);
      return status === 200 && JSON.stringify(body);
    });
    expect(trace).toContain('endpoint_auto_disabled');
    await endpoint.remove();
  });

  it('not by a 410 to a test webhook', async () => {
    const endpoint = await endpointAt('/tested');
    answers.set('/tested', 410);
    const json = { type: 'KYC', subType: 'FULL_USER', user_uuid: endpoint.uuid };
    const tested = await merchant.request('POST', `${endpoint.resource}/test`, json, { prefer: 'wait=15' });
    expect(tested.body).toMatchObject({ response_status: 410, failure_code: 'endpoint_gone' });
    expect(await endpoint.read()).toMatchObject({ status: 'active', failure_count: 0, last_failure: null });
    await endpoint.remove();
  });
});

describe('a failure at a previous URL of an endpoint', () => {
  it.each([503, 410])('that ends in %i after the change does not disable the endpoint', async (status) => {
    const path = `/stale-${status}`;
    const endpoint = await onTheBrink(path);
    answers.set(`${path}/fixed`, 200);
    const changed = await endpoint.patch({ url: `${receiver.url}${path}/fixed` });
    expect([changed.status, changed.body.failure_count]).toEqual([200, 0]);
    endpoint.release(status);
    await endpoint.recorded();
    expect(await endpoint.read()).toMatchObject({
      status: 'active',
      disabled_reason: null,
      failure_count: 0,
    });
    const eventId = await endpoint.publish('fixed');
    await eventually('the new URL has the webhook', () =>
      at(`${path}/fixed`).some((arrival) => arrival.eventId === eventId),
    );
    // Without the change the same answer would have switched it off: 'in', above.
    expect((await endpoint.read()).status).toBe('active');
    await endpoint.remove();
  });
});

describe('an endpoint that was disabled automatically', () => {
  it('is active after PATCH active: counters start afresh, the answer tells what to replay, events arrive', async () => {
    const endpoint = await endpointAt('/back');
    answers.set('/back', 410);
    await endpoint.publish('gone');
    await eventually(
      'the endpoint is disabled',
      async () => (await endpoint.read()).status === 'auto_disabled',
    );
    const { disabled_at: disabledAt } = await endpoint.read();
    answers.set('/back', 200);
    const { status, body } = await endpoint.patch({ status: 'active' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'active',
      disabled_at: null,
      disabled_reason: null,
      failure_count: 0,
    });
    expect(body.hint).toContain(disabledAt);
    expect(body.hint).toContain('replay');
    const eventId = await endpoint.publish('again');
    await eventually('the webhook arrives', () => at('/back').some((arrival) => arrival.eventId === eventId));
    expect((await endpoint.patch({ status: 'active' })).body).not.toHaveProperty('hint');
    await endpoint.remove();
  });

  it('is disabled by the merchant after PATCH disabled, and gone after DELETE', async () => {
    const endpoint = await endpointAt('/off');
    answers.set('/off', 410);
    await endpoint.publish('gone');
    await eventually(
      'the endpoint is disabled',
      async () => (await endpoint.read()).status === 'auto_disabled',
    );
    const { body } = await endpoint.patch({ status: 'disabled' });
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'manual' });
    expect((await endpoint.remove()).status).toBe(204);
    expect((await merchant.request('GET', endpoint.resource)).status).toBe(404);
  });
});
