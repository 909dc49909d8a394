/**
 * Guarantee: no request with an old secret starts more than a second after its rotation was answered, and an event that is
 * published a second after an endpoint was made is delivered to it, however many rotate and are made. Judged by the
 * receiver's own log. `npm run rotations` does 10,000 and 1,000, on both engines.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';
import { rotationGuarantees } from '../support/trials/rotation-guarantees.ts';
import { RotationTrial } from '../support/trials/rotation-trial.ts';

const START_MS_MAX = 120_000;

let setup: ServiceSetup;
let service: Service;
let trial: RotationTrial;

beforeAll(async () => {
  // Retries after 30 ms, 0.66 s and 7.3 s: they wait while secrets are replaced.
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '100' });
  service = await startService(setup.environment);
  trial = await RotationTrial.start(setup, () => service);
}, START_MS_MAX);

afterAll(async () => {
  await service?.end('SIGKILL');
  await trial?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

rotationGuarantees('sqlite', () => trial);
