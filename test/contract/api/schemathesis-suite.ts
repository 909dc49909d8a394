/**
 * The running service does what its description says, whatever it is sent: Schemathesis makes at least 50 requests of
 * each operation (`npm run fuzz`: 200) and follows the links between them. The exceptions, with their reasons, are in
 * test/schemathesis.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entityKindsOf, subTypesOf } from '../../../services/domain/catalog/catalog.ts';
import { API_VERSIONS } from '../../../services/domain/endpoint.ts';
import { ALL_KINDS } from '../../samples/sample-options.ts';
import { operations } from '../../support/api/openapi-check.ts';
import { eventually } from '../../support/eventually.ts';
import { runProgram } from '../../support/python-environment.ts';
import type { LoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import type { Service, ServiceSetup } from '../../support/service/system.ts';

const INSTALL_MS = 300_000;
/** A hang is a failure too: a run takes two minutes on two cores. */
const RUN_MS = 900_000;
const HOUR_MS = 3_600_000;
const SEED = Number(process.env.SCHEMATHESIS_SEED ?? 1);
/** The fewest requests of each operation, and the fewest sequences of operations. */
export const EXAMPLES_MIN = Number(process.env.SCHEMATHESIS_EXAMPLES ?? 50);
const STATEFUL_RUNS_MAX = 8;
/** Links to the console that open it; requests make more. */
const LINKS = 30;

/** No port that a URL of the fuzzer has: an endpoint can only be on this machine, which is exempt. */
export const FUZZED_ENVIRONMENT = {
  HOOKRAIL_EGRESS_PORTS: '1',
  HOOKRAIL_ENDPOINT_QUOTA: '1000000',
  HOOKRAIL_FAILED_KEYS_PER_MINUTE: '1000000',
};

/** The service under test: one address, and the processes behind it. */
export interface Tested {
  readonly setup: ServiceSetup;
  /** A merchant that has nothing. */
  readonly otherMerchantId: string;
  readonly apiUrl: string;
  readonly receiver: LoggingReceiver;
  readonly apis: readonly Pick<Service, 'output'>[];
  /** Stops every process; resolves with its exit codes. */
  stop(): Promise<readonly (number | null)[]>;
  dispose(): Promise<void>;
}

/** Bodies that name an event which every version has, of an entity of its kind. */
const NAMED = ALL_KINDS.filter(({ type, subType }) =>
  API_VERSIONS.every((version) => subTypesOf(type, version).includes(subType)),
).map(({ type, subType }) => ({
  type,
  subType,
  [entityKindsOf(type).includes('USER') ? 'user_uuid' : 'corporate_uuid']: randomUUID(),
}));

/** Declares hooks and tests for the service that `start` starts. `install` returns the Python that has Schemathesis. */
export function schemathesisSuite(
  install: () => Promise<string>,
  start: () => Promise<Tested>,
  examplesMin: number,
): void {
  let python: string;
  let tested: Tested;
  let folder: string;
  /** An endpoint with a delivery that can be sent again, a replay, and a record in quarantine. */
  let kept: Awaited<ReturnType<typeof keptDelivery>>;

  beforeAll(async () => {
    python = await install();
    folder = mkdtempSync(join(tmpdir(), 'hookrail-schemathesis-'));
    tested = await start();
    const { merchantId } = tested.setup;
    const events = ALL_KINDS.map((kind, index) => jsonEventOf(merchantId, `event ${index}`, kind));
    writeFileSync(join(folder, 'events.json'), JSON.stringify(events));
    writeFileSync(join(folder, 'named.json'), JSON.stringify(NAMED));
    kept = await keptDelivery();
  }, INSTALL_MS);
  afterAll(async () => {
    await tested?.dispose();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  async function keptDelivery() {
    const merchant = new MerchantClient(tested.setup, () => tested);
    const { uuid } = await merchant.createEndpoint(`${tested.receiver.url}/kept`);
    await merchant.publish([jsonEventOf(tested.setup.merchantId, 'kept')]);
    const delivery = await eventually('the delivery is listed', async () => {
      const { body } = await merchant.request('GET', `/merchant/webhook-endpoints/${uuid}/deliveries`);
      return body.data[0];
    });
    const missing = { since: new Date(Date.now() - HOUR_MS).toISOString(), only: 'missing' };
    const replay = await merchant.request('POST', `/merchant/webhook-endpoints/${uuid}/replay`, missing);
    expect(replay.status).toBe(202);
    const replayId: string = replay.body.replay_uuid;
    const { delivery_uuid: deliveryId, event_uuid: eventId, subject_uuid: subjectId } = delivery;
    const links = await Promise.all(Array.from({ length: LINKS }, () => newLink(tested.setup.merchantId)));
    const consoleToken = await openedWith(links.pop()?.link ?? '');
    const recordId = await keptRecord(merchant);
    return { endpointId: uuid, deliveryId, replayId, eventId, subjectId, recordId, links, consoleToken };
  }

  /** Returns the id of an event in quarantine that stays there: nobody makes its merchant. */
  async function keptRecord(merchant: MerchantClient): Promise<string> {
    await merchant.publish([jsonEventOf(randomUUID(), 'in quarantine')]);
    return eventually('a record is in quarantine', async () => {
      const answer = await fetch(`${tested.apiUrl}/platform/quarantine?reason=unknown_merchant`, {
        headers: { authorization: `API-Key ${tested.setup.platformKey}` },
      });
      const { data } = (await answer.json()) as { readonly data: readonly { quarantine_id: string }[] };
      return data[0]?.quarantine_id;
    });
  }

  async function newLink(merchantId: string) {
    const answer = await fetch(`${tested.apiUrl}/platform/merchants/${merchantId}/portal-sessions`, {
      method: 'POST',
      headers: {
        authorization: `API-Key ${tested.setup.platformKey}`,
        'content-type': 'application/json',
      },
      body: '{}',
    });
    const made = (await answer.json()) as { readonly url: string; readonly portal_session_uuid: string };
    return { link: String(made.url.split('#link=')[1]), sessionId: made.portal_session_uuid };
  }

  /** Returns the token of the session's cookie. */
  async function openedWith(link: string): Promise<string> {
    const opened = await fetch(`${tested.apiUrl}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link }),
    });
    return String(/=([\w-]{43});/.exec(String(opened.headers.get('set-cookie')))?.[1]);
  }

  /** Runs it to its end, which must be without a failure or a warning; answers what it printed. */
  async function runClean(...options: string[]): Promise<string> {
    const { code, output } = await runProgram(
      python,
      [
        ...['-m', 'schemathesis.cli', '--config-file', 'test/schemathesis/schemathesis.toml', 'run'],
        ...[`${tested.apiUrl}/openapi.yaml`, '--no-color', '--max-examples', String(examplesMin), ...options],
      ],
      {
        environment: {
          MERCHANT_KEY: tested.setup.apiKey,
          PRODUCER_KEY: tested.setup.producerKey,
          PLATFORM_KEY: tested.setup.platformKey,
          CONSOLE_TOKEN: kept.consoleToken,
          MERCHANT: tested.setup.merchantId,
          OTHER_MERCHANT: tested.otherMerchantId,
          KEPT_LINKS: kept.links.map(({ link }) => link).join(' '),
          KEPT_SESSIONS: kept.links.map(({ sessionId }) => sessionId).join(' '),
          RECEIVER_URL: tested.receiver.url,
          EVENTS_FILE: join(folder, 'events.json'),
          NAMED_FILE: join(folder, 'named.json'),
          KEPT_ENDPOINT: kept.endpointId,
          KEPT_DELIVERY: kept.deliveryId,
          KEPT_REPLAY: kept.replayId,
          KEPT_EVENT: kept.eventId,
          KEPT_SUBJECT: kept.subjectId,
          KEPT_RECORD: kept.recordId,
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

  /** Requests that the processes have logged. */
  function requestsOf(method: string, route: string): number {
    const parts = [`"method":"${method}"`, `"route":"${route}"`, '"event":"api_request"'];
    const lines = tested.apis.flatMap(({ output }) => output);
    return lines.filter((line) => parts.every((part) => line.includes(part))).length;
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
      for (let run = 1; run <= STATEFUL_RUNS_MAX && scenarios < examplesMin; run += 1) {
        scenarios += scenariosOf(await runClean('--phases', 'stateful', '--seed', String(SEED + run)));
      }
      expect(scenarios).toBeGreaterThanOrEqual(examplesMin);
      for (const { method, path } of operations()) {
        expect(requestsOf(method, path), `${method} ${path}`).toBeGreaterThanOrEqual(examplesMin);
      }
      expect(tested.receiver.arrivals.length).toBeGreaterThan(0);
    },
    2 * RUN_MS,
  );

  test('leaves the service without an error of its own, and able to stop cleanly', async () => {
    for (const { output } of tested.apis) {
      expect(output.filter((line) => line.includes('"api_request"')).length).toBeGreaterThan(examplesMin);
      expect(output.filter((line) => line.includes('"request_failed"'))).toEqual([]);
    }
    expect(new Set(await tested.stop())).toEqual(new Set([0]));
  });
}
