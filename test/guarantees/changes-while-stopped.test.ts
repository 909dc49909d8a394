/**
 * Guarantee: a change that is made while the service is stopped, by the operator's tool or in the store, holds before the
 * first attempt of the next start. A retry is due by then, so that a sender that is too early sends it at once.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newSecret, secretHint } from '../../services/domain/secret.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { systemClock } from '../../services/process/clock.ts';
import { systemRandom } from '../../services/process/random.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

/** The first retry waits for three seconds. */
const RETRY_DUE_MS = 3500;
const DELIVERIES = 20;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let endpoint: { readonly uuid: string; readonly signing_secret: string };
let status: number;

beforeEach(async () => {
  status = 500;
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => status);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
  endpoint = await merchant.createEndpoint(`${receiver.url}/before`);
  await merchant.publish(Array.from({ length: DELIVERIES }, (_, n) => jsonEventOf(setup.merchantId, `${n}`)));
  await eventually('the first attempts have failed', async () => {
    const failed = (await deliveries()).filter(({ attempts_made: made }) => made === 1);
    return failed.length === DELIVERIES;
  });
});

afterEach(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

async function deliveries(): Promise<
  { readonly status: string; readonly cancel_reason: string | null; readonly attempts_made: number }[]
> {
  const path = `/merchant/webhook-endpoints/${endpoint.uuid}/deliveries?limit=100`;
  return (await merchant.request('GET', path)).body.data;
}

/** Stops the service, makes a change, and starts it once the retries are due. */
async function restartedAfter(change: () => Promise<unknown>): Promise<void> {
  await hookrail.stop();
  expect(receiver.arrivals).toHaveLength(DELIVERIES);
  status = 200;
  await change();
  await sleep(RETRY_DUE_MS);
  hookrail = await startHookrail(setup.environment);
}

/** Changes the stopped service's store. */
async function inStore(change: (store: Store) => Promise<unknown>): Promise<unknown> {
  const clock = systemClock();
  const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
  const keyRing = KeyRing.read(join(setup.dataDir, 'keyring.json'));
  const file = join(setup.dataDir, 'store.db');
  const store = await openSqliteStore({ file, clock, healthPolicy, keyRing });
  try {
    return await change(store);
  } finally {
    await store.close();
  }
}

const by = () => ({ at: Date.now(), actor: { kind: 'operator' } as const });
const retries = () => receiver.arrivals.slice(DELIVERIES);

it('a merchant that was paused is sent nothing', { timeout: 60_000 }, async () => {
  await restartedAfter(() => toolAnswer(setup.environment, 'merchants', 'pause', setup.merchantId));
  const pattern = /^hookrail_parked_total\{[^}]*merchant_paused[^}]*\} (\d+)/m;
  await eventually('the retries are put back', async () => {
    const metrics = await (await fetch(`${hookrail.operationsUrl}/metrics`)).text();
    return Number(pattern.exec(metrics)?.[1] ?? 0) === DELIVERIES;
  });
  expect(retries()).toEqual([]);
});

it.each([
  [
    'disabled',
    'endpoint_disabled',
    (store: Store) => store.endpoints.update(setup.merchantId, endpoint.uuid, { status: 'disabled' }, by()),
  ],
  [
    'deleted',
    'endpoint_deleted',
    (store: Store) => store.endpoints.remove(setup.merchantId, endpoint.uuid, by()),
  ],
])('an endpoint that was %s is sent nothing', { timeout: 60_000 }, async (_, reason, change) => {
  await restartedAfter(() => inStore(change));
  const pattern = new RegExp(`^hookrail_cancelled_total\\{reason="${reason}"\\} (\\d+)`, 'm');
  await eventually('the retries are cancelled', async () => {
    const metrics = await (await fetch(`${hookrail.operationsUrl}/metrics`)).text();
    return Number(pattern.exec(metrics)?.[1] ?? 0) === DELIVERIES;
  });
  expect(retries()).toEqual([]);
});

it('a rotated secret is in every retry', { timeout: 60_000 }, async () => {
  const secret = newSecret(systemRandom.bytes(32));
  const keyRing = KeyRing.read(join(setup.dataDir, 'keyring.json'));
  const sealed = keyRing.seal(secret, endpoint.uuid);
  const change = { sealed, hint: secretHint(secret) };
  await restartedAfter(() =>
    inStore((store) => store.endpoints.rotate(setup.merchantId, endpoint.uuid, change, by())),
  );
  await eventually('the retries arrive', () => retries().length === DELIVERIES);
  expect(new Set(retries().map(({ authorization }) => authorization))).toEqual(
    new Set([`API-Key ${secret}`]),
  );
});

it('every retry goes to a new URL', { timeout: 60_000 }, async () => {
  const url = `${receiver.url}/after`;
  await restartedAfter(() =>
    inStore((store) => store.endpoints.update(setup.merchantId, endpoint.uuid, { url }, by())),
  );
  await eventually('the retries arrive', () => retries().length === DELIVERIES);
  expect(new Set(retries().map(({ path }) => path))).toEqual(new Set(['/after']));
});
