/**
 * Guarantee: a receiver that refuses every webhook, and quickly, gets each attempt when it is due: what is quick has no
 * reason to be parked, whatever it says. LONG_RUN=1 makes it longer; it prints how late the attempts began.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ATTEMPTS_MAX, retryDelaySeconds } from '../../services/domain/retry.ts';
import { eventually } from '../support/eventually.ts';
import { sizeOf } from '../support/long-runs.ts';
import { type RawReceiver, startRawReceiver } from '../support/receivers/misbehaving-receivers.ts';
import { headerOf } from '../support/receivers/signed-webhook.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const SECONDS = sizeOf('FAST_FAILURES_SECONDS');
const EVENTS_PER_SECOND = 7.5;
const ANSWER_MS = 60;
/** The seven attempts of an event then take six seconds, and all that are due at once are 52 a second. */
const RETRY_SCALE = 10_000;
/** Of nine in ten. With one request at a time it is four seconds after twelve seconds of load, and grows. */
const LATE_MS_MAX = 2000;
const REFUSED = 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n';

interface Attempt {
  readonly number: number;
  readonly at: number;
  answeredAt: number;
}

let setup: ServiceSetup;
let service: Service;
let merchant: MerchantClient;
let receiver: RawReceiver;
const attempts = new Map<string, Attempt[]>();

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}` });
  receiver = await startRawReceiver(setup.receiverCert, async (socket, _, request = '') => {
    const attempt = { number: Number(headerOf(request, 'webhook-attempt')), at: Date.now(), answeredAt: 0 };
    const id = headerOf(request, 'webhook-id');
    attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
    await sleep(ANSWER_MS);
    attempt.answeredAt = Date.now();
    socket.write(REFUSED);
  });
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
  await merchant.createEndpoint(`https://localhost:${receiver.port}/`);
}, 60_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

it('first attempts and retries of such a receiver begin when they are due', {
  timeout: 120_000 + 2000 * SECONDS,
}, async () => {
  const postedAt = new Map<string, number>();
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end; await sleep(1000 / EVENTS_PER_SECOND)) {
    const event = jsonEventOf(setup.merchantId, `${postedAt.size}`, { type: 'KYC', subType: 'KYC_PENDING' });
    postedAt.set(event.header.eventId, Date.now());
    expect((await merchant.publish([event])).status).toBe(202);
  }
  await eventually(
    'every event has had its attempts',
    () => [...postedAt.keys()].every((id) => attempts.get(id)?.length === ATTEMPTS_MAX),
    60_000,
  );
  const firsts = [...postedAt].map(([id, at]) => (attempts.get(id)?.[0]?.at ?? 0) - at);
  const retries = [...attempts.values()].flatMap((all) =>
    all.slice(1).map(({ number, at }, index) => {
      const dueMs = (retryDelaySeconds(number - 1) * 1000) / RETRY_SCALE;
      return at - (all[index] as Attempt).answeredAt - dueMs;
    }),
  );
  for (const [name, late] of Object.entries({ firsts, retries })) {
    late.sort((one, other) => one - other);
    const at = (share: number) => Math.round(late[Math.floor(late.length * share)] ?? 0);
    console.log(
      `${name}: late by p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, at most ${Math.round(late.at(-1) ?? 0)} ms`,
    );
    expect(at(0.9)).toBeLessThan(LATE_MS_MAX);
  }
});
