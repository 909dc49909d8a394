/**
 * Endpoints that answer at once, while the service cannot keep up: it gets a burst, is stopped, or other processes take
 * the machine. None of that is the receivers' doing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { FailingReceiver } from '../receivers/failing-receiver.ts';
import { jsonEventOf } from '../records/events.ts';
import { MerchantClient } from '../service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup } from '../service/system.ts';

const ENDPOINTS = 50;
const WARMING_EVENTS = 40;
const BURST_EVENTS = 400;
const EVENTS_PER_POST = 200;
const STEADY_EVENTS = 40;
const STEADY_PAUSE_MS = 50;
const STOPPED_MS = 5000;
const STARVED_EVENTS = 100;
const BUSY_LOOPS = 4;
const BUSY_LOOP = 'for (const until = Date.now() + 60_000; Date.now() < until; );';
/** Only against hanging: a task that was parked for longer than the shortest time would exceed it. */
const DELIVERED_MS_MAX = 60_000;
const IN_FORCE_MS = 1500;

/** Runs the trial on a service of its own, and expects that its slowness is not blamed on the endpoints. */
export async function expectNoBlame(start: (setup: ServiceSetup) => Promise<Service>): Promise<void> {
  const setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1' });
  const service = await start(setup);
  const receiver = await new FailingReceiver(setup.receiverCert).start();
  let loops: ChildProcess[] = [];
  try {
    const merchant = new MerchantClient(setup, () => service);
    for (let i = 0; i < ENDPOINTS; i += 1) await merchant.createEndpoint(`${receiver.url}/${i}`);
    await sleep(IN_FORCE_MS);
    let published = 0;
    const publish = async (count: number) => {
      const events = Array.from({ length: count }, () => jsonEventOf(setup.merchantId, `own ${published++}`));
      expect((await merchant.publish(events)).status).toBe(202);
    };
    const delivered = (what: string) =>
      eventually(
        `every webhook has arrived ${what}`,
        () => receiver.delivered.length >= published * ENDPOINTS,
        DELIVERED_MS_MAX,
      );
    for (let i = 0; i < WARMING_EVENTS; i += 1) await publish(1);
    await delivered('when nothing is late');

    for (let i = 0; i < BURST_EVENTS; i += EVENTS_PER_POST) await publish(EVENTS_PER_POST);
    await delivered('after a burst');

    const steady: Promise<void>[] = [];
    for (let i = 0; i < STEADY_EVENTS; i += 1) {
      steady.push(publish(1));
      if (i === STEADY_EVENTS / 2) service.process.kill('SIGSTOP');
      await sleep(STEADY_PAUSE_MS);
    }
    await sleep(STOPPED_MS);
    service.process.kill('SIGCONT');
    await Promise.all(steady);
    await delivered('after the service was stopped');

    loops = Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ['-e', BUSY_LOOP]));
    await publish(STARVED_EVENTS);
    await delivered('beside four busy loops');

    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    const parkedLonger = metrics
      .split('\n')
      .filter((line) => line.startsWith('hookrail_parked_total{') && !line.includes('tier="3"'));
    expect(parkedLonger.filter((line) => !line.endsWith(' 0'))).toEqual([]);
    expect(receiver.failed).toBe(0);
    expect(await service.end('SIGTERM')).toBe(0);
  } finally {
    for (const loop of loops) loop.kill();
    service.process.kill('SIGCONT');
    await service.end('SIGKILL');
    await receiver.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  }
}
