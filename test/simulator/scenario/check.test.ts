/**
 * `scenarios check` plays every scenario through the service and its receivers, finds what is not as expected, and leaves
 * nothing behind; the bodies that arrive are those of the golden files.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { EXIT } from '../../../simulator/exit.ts';
import { openAuthority } from '../../../simulator/receiver/certificate-authority.ts';
import { scenarioNames } from '../../../simulator/scenario/library.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { accessTo, simHere } from '../support/command-line.ts';
import { GOLDEN_NAMES, goldenBodies } from '../support/golden.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
let folder: string;
let access: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-check-'));
  await openAuthority(folder);
  setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(folder, 'ca.crt'),
    // Seven attempts in less than four seconds.
    HOOKRAIL_RETRY_SCALE: '20000',
    HOOKRAIL_AUTO_DISABLE_HOURS: '0.0005',
    HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS: '1',
  });
  hookrail = await startHookrail(setup.environment);
  access = accessTo(setup, hookrail, folder);
}, 60_000);

afterAll(async () => {
  await hookrail?.stop();
  for (const dir of [setup.dataDir, folder]) rmSync(dir, { recursive: true });
});

const sim = (...args: string[]) => simHere(args, access);

const endpoints = async () => JSON.parse((await sim('endpoints', 'list', '--output', 'json')).stdout);

test('every scenario meets its expectations, and its endpoints are removed', {
  timeout: 300_000,
}, async () => {
  const { code, stdout, stderr } = await sim('scenarios', 'check', '--seed', '42', '--output', 'json');
  const results = JSON.parse(stdout);
  expect(
    results.filter(
      ({ kind, status }: { kind: string; status: string }) => kind === 'case' && status !== 'passed',
    ),
  ).toEqual([]);
  expect([code, stderr]).toEqual([EXIT.ok, '']);
  const played = results.flatMap(({ name = '' }: { name?: string }) => name.split(' ', 1)[0] || []);
  expect([...new Set(played)].sort()).toEqual(scenarioNames());
  expect(await endpoints()).toEqual([]);
});

const UNMET = `name: unmet
endpoints: { main: {}, legacy: { version: 2.2.8 } }
entities: { tx: { kind: fiatToCrypto, amountFiat: 250, currencyFiat: EUR } }
steps:
  - { id: created, emit: fiatToCrypto/PENDING }
  - { id: received, emit: fiatToCrypto/IN_PROGRESS }
  - { id: forged, forge: received, how: bad-secret }
expect:
  - { step: created, endpoint: main }
  - { step: created, endpoint: legacy }
  - { step: received, endpoint: main, status: cancelled }
  - { step: received, endpoint: main, body: { data.amountFiat: 251 }, without: [data.chain], attempts: 2 }
  - { step: received, endpoint: main, requests: 2, within: 1s }
  - { step: received, within: 0ms }
  - { step: forged, status: accepted }
  - { endpoint: main, status: disabled, within: 1s }
`;

test('each expectation that is not met is named, also in the JUnit report', { timeout: 60_000 }, async () => {
  const file = join(folder, 'unmet.yaml');
  writeFileSync(file, UNMET);
  const junit = join(folder, 'out.xml');
  const { code, stdout, stderr } = await sim(
    'scenarios',
    'check',
    file,
    '--output',
    'json',
    '--junit',
    junit,
  );
  expect(code).toBe(EXIT.expectation);
  expect(JSON.parse(stderr).error.next[0]).toContain('run unmet --seed');
  const [{ status, findings }] = JSON.parse(stdout);
  expect(status).toBe('failed');
  expect(findings).toEqual([
    'created at legacy delivered: no endpoint received it: subtype_not_in_api_version',
    'received at main cancelled: delivered',
    'received at main delivered: 1 attempt(s); data.amountFiat is 250, not 251; the webhook has data.chain',
    'received at main delivered: 1 request(s) at the receiver, not 2',
    expect.stringMatching(/^received delivered: delivered, delivered after \d/),
    'forged accepted: the receiver answered 401',
    'endpoint main disabled: active',
  ]);
  const xml = readFileSync(junit, 'utf8');
  expect(xml).toContain('failures="1"');
  expect(xml).toContain('<failure message="created at legacy delivered: no endpoint received it');
  expect(await endpoints()).toEqual([]);
});

test('a scenario that waits in vain fails and leaves no endpoint', { timeout: 60_000 }, async () => {
  const file = join(folder, 'in-vain.yaml');
  writeFileSync(
    file,
    `name: in-vain
endpoints: { main: {} }
steps:
  - { id: needed, emit: KYC/KYC_NEEDED }
  - { id: started, when: { needed: refused }, emit: KYC/PENDING_KYC_DATA }
expect:
  - { step: started }
`,
  );
  const { code, stdout } = await sim('scenarios', 'check', file, '--wait', '500ms');
  expect(code).toBe(EXIT.expectation);
  expect(stdout).toContain('waited in vain for "needed" refused');
  expect(await endpoints()).toEqual([]);
});

test('run plays a scenario with endpoints of its own, and fails when its expectations are not met', {
  timeout: 60_000,
}, async () => {
  const met = await sim('run', 'rotate.mid-flight', '--expect', '--speed', 'instant', '--output', 'ndjson');
  expect(met.code, met.stderr + met.stdout).toBe(EXIT.ok);
  const file = join(folder, 'unmet.yaml');
  writeFileSync(file, UNMET);
  const unmet = await sim('run', file, '--expect', '--speed', 'instant', '--output', 'ndjson');
  expect([unmet.code, unmet.stderr]).toEqual([EXIT.expectation, expect.stringContaining('7 expectation(s)')]);
  expect(await endpoints()).toEqual([]);
});

test.each([
  [['--only', 'onramp.hapy'], EXIT.usage, /fits no scenario; did you mean onramp\.happy, /],
  [['--only', 'kyc.*', '--skip', '*'], EXIT.usage, /leave no scenario/],
  [['--secret', 'whsec_x'], EXIT.usage, /--secret is for --to/],
  [['--wait', 'long'], EXIT.usage, /not a duration/],
  [['no-such.yaml'], EXIT.usage, /does not exist/],
  [['kyc.happy', '--junit', '/no/such/folder/x.xml'], EXIT.usage, /does not exist/],
])('scenarios check %s is refused with the reason', async (args, code, message) => {
  const ended = await sim('scenarios', 'check', ...args);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
});

test('the bodies that arrive are those of the golden files, in both API versions', {
  timeout: 60_000,
}, async () => {
  for (const name of GOLDEN_NAMES) {
    const { arrived, planned } = await goldenBodies(name, access, { merchantId: setup.merchantId, folder });
    expect(arrived).toEqual(planned);
  }
});
