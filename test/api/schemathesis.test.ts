/**
 * The running service does what its description says, whatever it is sent: Schemathesis makes at least 50 requests of
 * each operation (`npm run fuzz`: 200) and follows the links between them. The exceptions, with their reasons, are in
 * test/schemathesis.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_KINDS } from '../samples/sample-options.ts';
import { operations } from '../support/api/openapi-check.ts';
import { describeWithSchemathesis, runProgram } from '../support/api/schemathesis.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const INSTALL_MS = 300_000;
/** A hang is a failure too: a run takes two minutes on two cores. */
const RUN_MS = 900_000;
const HOUR_MS = 3_600_000;
const SEED = Number(process.env.SCHEMATHESIS_SEED ?? 1);
/** The fewest requests of each operation, and the fewest sequences of operations. */
const EXAMPLES_MIN = Number(process.env.SCHEMATHESIS_EXAMPLES ?? 50);
const STATEFUL_RUNS_MAX = 8;

/** No port that a URL of the fuzzer has: an endpoint can only be on this machine, which is exempt. */
const ENVIRONMENT = { HOOKRAIL_EGRESS_PORTS: '1', HOOKRAIL_ENDPOINT_QUOTA: '1000000' };

await describeWithSchemathesis('Schemathesis', (install) => {
  let python: string;
  let setup: ServiceSetup;
  let service: Service;
  let receiver: LoggingReceiver;
  let folder: string;
  /** An endpoint with a delivery that can be sent again, and a replay. */
  let kept: { readonly endpointId: string; readonly deliveryId: string; readonly replayId: string };

  beforeAll(async () => {
    python = await install();
    folder = mkdtempSync(join(tmpdir(), 'hookrail-schemathesis-'));
    setup = await prepareSetup(ENVIRONMENT);
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    service = await startService(setup.environment);
    const events = ALL_KINDS.map((kind, index) => jsonEventOf(setup.merchantId, `event ${index}`, kind));
    writeFileSync(join(folder, 'events.json'), JSON.stringify(events));
    kept = await keptDelivery();
  }, INSTALL_MS);
  afterAll(async () => {
    await service?.end('SIGKILL');
    await receiver?.close();
    for (const each of [folder, setup?.dataDir]) if (each) rmSync(each, { recursive: true, force: true });
  });

  async function keptDelivery() {
    const merchant = new MerchantClient(setup, () => service);
    const { uuid } = await merchant.createEndpoint(`${receiver.url}/kept`);
    await merchant.publish([jsonEventOf(setup.merchantId, 'kept')]);
    const delivery = await eventually('the delivery is listed', async () => {
      const { body } = await merchant.request('GET', `/merchant/webhook-endpoints/${uuid}/deliveries`);
      return body.data[0];
    });
    const missing = { since: new Date(Date.now() - HOUR_MS).toISOString(), only: 'missing' };
    const replay = await merchant.request('POST', `/merchant/webhook-endpoints/${uuid}/replay`, missing);
    expect(replay.status).toBe(202);
    const replayId: string = replay.body.replay_uuid;
    return { endpointId: uuid, deliveryId: delivery.delivery_uuid as string, replayId };
  }

  /** Runs it to its end, which must be without a failure or a warning; answers what it printed. */
  async function runClean(...options: string[]): Promise<string> {
    const { code, output } = await runProgram(
      python,
      [
        ...['-m', 'schemathesis.cli', '--config-file', 'test/schemathesis/schemathesis.toml', 'run'],
        ...[
          `${service.apiUrl}/openapi.yaml`,
          '--no-color',
          '--max-examples',
          String(EXAMPLES_MIN),
          ...options,
        ],
      ],
      {
        environment: {
          MERCHANT_KEY: setup.apiKey,
          PRODUCER_KEY: setup.producerKey,
          RECEIVER_URL: receiver.url,
          EVENTS_FILE: join(folder, 'events.json'),
          KEPT_ENDPOINT: kept.endpointId,
          KEPT_DELIVERY: kept.deliveryId,
          KEPT_REPLAY: kept.replayId,
        },
        signal: AbortSignal.timeout(RUN_MS),
      },
    );
    expect(code, output).toBe(0);
    expect(output).toContain('No issues found');
    console.log(output.trim().split('\n').slice(-7).join('\n'));
    return output;
  }

  const scenariosOf = (output: string) => Number(/Scenarios: +(\d+)/.exec(output)?.[1] ?? 0);

  /** Requests that the service has counted. */
  function requestsOf(method: string, route: string): number {
    const parts = [`"method":"${method}"`, `"route":"${route}"`, '"event":"api_request"'];
    return service.output.filter((line) => parts.every((part) => line.includes(part))).length;
  }

  test(
    'finds no failure and has no warning, in every phase and operation',
    async () => {
      const output = await runClean('--seed', String(SEED));
      expect(output).toContain(`Tested: ${operations().length}\n`);
      for (const phase of ['Examples', 'Coverage', 'Fuzzing', 'Stateful']) {
        expect(output).toContain(`  ✅ ${phase}\n`);
      }
      // The stateful phase ends early when what it repeats comes out otherwise, as it may where time passes: go on.
      let scenarios = scenariosOf(output);
      for (let run = 1; run <= STATEFUL_RUNS_MAX && scenarios < EXAMPLES_MIN; run += 1) {
        scenarios += scenariosOf(await runClean('--phases', 'stateful', '--seed', String(SEED + run)));
      }
      expect(scenarios).toBeGreaterThanOrEqual(EXAMPLES_MIN);
      for (const { method, path } of operations()) {
        expect(requestsOf(method, path), `${method} ${path}`).toBeGreaterThanOrEqual(EXAMPLES_MIN);
      }
      expect(receiver.arrivals.length).toBeGreaterThan(0);
    },
    2 * RUN_MS,
  );

  test('leaves the service without an error of its own, and able to stop cleanly', async () => {
    expect(service.output.filter((line) => line.includes('"request_failed"'))).toEqual([]);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
