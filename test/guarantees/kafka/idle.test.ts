/**
 * Guarantee: a process without work costs the cluster next to nothing, and is nevertheless quick to begin, to share its
 * partitions, and to stop.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  countingRequests,
  kafkaRequestsOf,
  requestRates,
} from '../../../scripts/bench/kafka/kafka-requests.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { prepareSetup, type Service, startService } from '../../support/service/system.ts';

/** Consumers are idle five seconds after they have joined. */
const SETTLE_MS = 9000;
const MEASURED_MS = 6000;
/** Requests a second, twice what is measured on three brokers. They were 83, 87 and 180. */
const MOST = { 'api,recorder': 16, router: 16, sender: 80 } as const;
const ROLES = ['api,recorder', 'router', 'sender'] as const;

await describeWithKafka('idle processes', (kafka) => {
  it('send the brokers few requests, and stop at once', async () => {
    const setup = await prepareSetup(kafkaEnvironment(kafka, freshPrefix()));
    const file = join(mkdtempSync(join(tmpdir(), 'hookrail-idle-')), 'requests');
    const services: Service[] = [];
    try {
      for (const roles of ROLES) {
        const dataDir = roles === 'router' || roles === 'sender' ? join(setup.dataDir, roles) : setup.dataDir;
        mkdirSync(dataDir, { recursive: true });
        services.push(
          await startService({
            ...setup.environment,
            ...countingRequests(file),
            HOOKRAIL_KEYRING: join(setup.dataDir, 'keyring.json'),
            HOOKRAIL_DATA_DIR: dataDir,
            HOOKRAIL_ROLES: roles,
          }),
        );
      }
      await sleep(SETTLE_MS);
      const look = () => services.map((service) => kafkaRequestsOf(file, service.process.pid ?? 0));
      const before = look();
      await sleep(MEASURED_MS);
      const after = look();
      for (const [index, roles] of ROLES.entries()) {
        const rates = requestRates(before[index] ?? {}, after[index] ?? {}, MEASURED_MS / 1000);
        expect(rates.all, `${roles}: ${JSON.stringify(rates.byName)}`).toBeLessThan(MOST[roles]);
        // It does go on looking.
        expect(rates.byName.Fetch, roles).toBeGreaterThan(0);
      }
      const begun = performance.now();
      expect(await services[1]?.end('SIGTERM')).toBe(0);
      expect(performance.now() - begun).toBeLessThan(5000);
    } finally {
      await Promise.all(services.map((service) => service.end('SIGKILL')));
    }
  }, 120_000);
});
