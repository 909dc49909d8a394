/**
 * Guarantee, on Kafka: senders whose machines were an hour behind or ahead when they started make retries on time, never
 * early by the receiver's clock, whichever of them made the attempt before. The senders run under libfaketime (Debian
 * package faketime), which changes the system's time for one process and leaves its monotonic clock alone.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TIERS } from '../../../services/domain/retry.ts';
import { eventually } from '../../support/eventually.ts';
import { Fleet, FleetProcess } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup } from '../../support/service/system.ts';

const HOUR_SECONDS = 3600;
const RETRY_SCALE = 20;
const ENDPOINTS = 12;
const EVENTS = 3;
/** The third one succeeds. */
const ATTEMPTS = 3;
/** Little beside an hour, and enough for a machine that is busy with other tests. */
const LATE_MS_MAX = 8000;
const LIBRARY = 'libfaketimeMT.so.1';

const library = readdirSync('/usr/lib')
  .map((folder) => join('/usr/lib', folder, 'faketime', LIBRARY))
  .find((file) => existsSync(file));

it('senders with wrong clocks can be tested on this machine (apt-get install faketime)', () => {
  expect(library).toBeDefined();
});

await describeWithKafka('senders an hour behind and an hour ahead', (kafka) => {
  let fleet: Fleet;
  let receiver: LoggingReceiver;
  let merchant: MerchantClient;

  function addSender(name: string, seconds: number): FleetProcess {
    const dataDir = join(fleet.environment.HOOKRAIL_DATA_DIR ?? '', name);
    mkdirSync(dataDir);
    const sender = new FleetProcess('sender', name, {
      ...fleet.environment,
      HOOKRAIL_DATA_DIR: dataDir,
      LD_PRELOAD: library ?? '',
      FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    });
    fleet.processes.push(sender);
    return sender;
  }

  async function metricOf({ service }: FleetProcess, name: string): Promise<number> {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }

  beforeAll(async () => {
    const setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: String(RETRY_SCALE) });
    const topicPrefix = freshPrefix();
    fleet = new Fleet({ setup, topicPrefix, ...kafka });
    receiver = await startLoggingReceiver(setup.receiverCert, ({ attempt }) =>
      attempt < ATTEMPTS ? 500 : 200,
    );
    await fleet.start(1, 0);
    const senders = [addSender('behind', -HOUR_SECONDS), addSender('ahead', HOUR_SECONDS)];
    await Promise.all(senders.map((sender) => sender.start()));
    await Promise.all(senders.map((sender) => sender.untilReady()));
    merchant = new MerchantClient(setup, () => fleet.api.service);
    for (let index = 0; index < ENDPOINTS; index += 1)
      await merchant.createEndpoint(`${receiver.url}/${index}`);
    const events = Array.from({ length: EVENTS }, (_, index) =>
      jsonEventOf(setup.merchantId, `clocks-${index}`),
    );
    expect((await merchant.publish(events)).status).toBe(202);
  }, 60_000);

  afterAll(async () => {
    await fleet?.kill();
    await receiver?.close();
  }, 30_000);

  it('make every retry when it is due', { timeout: 40_000 }, async () => {
    const ended = () => receiver.arrivals.filter(({ attempt }) => attempt === ATTEMPTS).length;
    await eventually('every delivery has succeeded', () => ended() >= ENDPOINTS * EVENTS, 30_000);
    const at = new Map(receiver.arrivals.map((one) => [`${one.deliveryId} ${one.attempt}`, one.at]));
    const lateMs = [...at].flatMap(([name, arrivedAt]) => {
      const [id = '', attempt = ''] = name.split(' ');
      const before = at.get(`${id} ${Number(attempt) - 1}`);
      const delayMs = ((TIERS[Number(attempt) - 2] ?? 0) * 1000) / RETRY_SCALE;
      return before === undefined ? [] : [arrivedAt - before - delayMs];
    });
    expect(lateMs).toHaveLength(ENDPOINTS * EVENTS * (ATTEMPTS - 1));
    // Arrivals are logged in whole milliseconds, and the one before a moment before it was answered.
    expect(Math.min(...lateMs), 'never early').toBeGreaterThanOrEqual(-1);
    expect(Math.max(...lateMs), 'and on time').toBeLessThan(LATE_MS_MAX);
  });

  it('both make attempts, count none as early, and report how wrong their clocks are', async () => {
    for (const [sender, offset, side] of [
      [fleet.of('sender')[0], HOUR_SECONDS, 'behind'],
      [fleet.of('sender')[1], -HOUR_SECONDS, 'ahead of'],
    ] as const) {
      if (!sender) throw new Error('a sender is missing');
      const told = await metricOf(sender, 'hookrail_broker_clock_offset_seconds');
      expect(Math.abs(told - offset)).toBeLessThan(5);
      expect(await metricOf(sender, 'hookrail_retry_lateness_seconds_count')).toBeGreaterThan(0);
      const meanLateness =
        (await metricOf(sender, 'hookrail_retry_lateness_seconds_sum')) /
        (await metricOf(sender, 'hookrail_retry_lateness_seconds_count'));
      expect(meanLateness).toBeLessThan(LATE_MS_MAX / 1000);
      expect(await metricOf(sender, 'hookrail_early_retries_total')).toBe(0);
      expect(sender.output.join('\n')).toContain(`s ${side} the brokers'`);
    }
  });
});
