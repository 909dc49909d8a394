/**
 * `run` plays what its flags choose, the same by the same seed; it leaves a record, which `step` continues by hand and
 * `assert` checks: exit code 1 unless everything that was expected arrived, in time, no more than once.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../simulator/exit.ts';
import { openPlayGround, type PlayGround } from './support/play-ground.ts';

let ground: PlayGround;

beforeAll(async () => {
  ground = await openPlayGround();
}, 60_000);

afterAll(() => ground?.close());

const FIXED = ['--seed', '42', '--start-at', '2025-01-31T12:00:00Z'];
/** A run that nothing before it has sent. */
let starts = 0;
const fresh = () => {
  starts += 1;
  return ['--seed', '42', '--start-at', new Date(Date.UTC(2024, 0, starts)).toISOString()];
};
const dry = (...args: string[]) => ground.items('run', 'onramp.happy', ...FIXED, ...args, '--dry-run');
const stepsOf = (items: { step: string }[]) => items.map(({ step }) => step);

test('run leaves out steps without moving or changing the others', async () => {
  const all = await dry();
  const ids = stepsOf(all);
  const some = await dry('--skip', ids.slice(2).join(','));
  expect(some).toEqual(all.slice(0, 2));
  const last = await dry('--only', ids.at(-1) ?? '', '--force');
  expect(last.map(({ event }) => event)).toEqual([all.at(-1).event]);
  expect(last[0].offset_ms).toBe(0);
});

test.each<[string, string[], RegExp]>([
  ['steps that cannot follow each other', ['--only', 'done'], /"done" is not possible.*legal: PENDING/],
  ['an unknown step', ['--skip', 'don'], /no step "don"; did you mean done/],
  ['no step at all', ['--only', 'created', '--skip', 'created'], /leave no step/],
  ['a share above one', ['--duplicates', '1.5'], /not a share/],
  ['a window that is none', ['--shuffle', 'much'], /not a duration/],
  ['flags that do nothing by hand', ['--step', '--shuffle', '1s'], /cannot be combined/],
])('run refuses %s', async (_, args, message) => {
  const { code, stderr } = await ground.sim('run', 'onramp.happy', '--dry-run', ...args);
  expect(code).toBe(EXIT.usage);
  expect(stderr).toMatch(message);
});

test('run shuffles and repeats the same events for the same seed', async () => {
  const args = ['--shuffle', '1h', '--duplicates', '33%'];
  const shuffled = await dry(...args);
  expect(await dry(...args)).toEqual(shuffled);
  const all = await dry();
  expect(stepsOf(shuffled)).not.toEqual(stepsOf(all));
  expect(stepsOf(shuffled).sort()).toEqual(stepsOf(all).sort());
  const repeated = shuffled.filter(({ delivered_twice }) => delivered_twice).length;
  expect(repeated).toBeGreaterThan(0);
  expect(repeated).toBeLessThan(all.length);
});

test('run --duplicates delivers webhooks again with the same webhook-id, and assert counts them once', async () => {
  const before = ground.receiver.arrivals.length;
  const args = ['run', 'kyc.happy', ...fresh(), '--speed', 'instant', '--duplicates', '1', '--wait', '20s'];
  const played = await ground.items(...args);
  const sent = played.filter(({ kind }) => kind === 'sent');
  const again = played.filter(({ kind }) => kind === 'duplicate');
  expect(again.map(({ event_uuid, status }) => [event_uuid, status]).sort()).toEqual(
    sent.map(({ event_uuid }) => [event_uuid, 'delivered']).sort(),
  );
  const arrived = ground.receiver.arrivals.slice(before).map(({ headers }) => headers['webhook-id']);
  expect(arrived.sort()).toEqual(sent.flatMap(({ event_uuid }) => [event_uuid, event_uuid]).sort());
  const checked = await ground.items('assert', played[0].run);
  expect(checked.map(({ verdict }) => verdict)).toEqual(sent.map(() => 'passed'));
});

test('the sinks without hookrail write repeated events twice', async () => {
  const args = ['run', 'kyc.happy', ...FIXED, '--speed', 'instant', '--duplicates', '1', '--sink', 'stdout'];
  const { code, stdout } = await ground.sim(...args);
  expect(code).toBe(EXIT.ok);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.filter((_, i) => i % 2 === 0)).toEqual(lines.filter((_, i) => i % 2 === 1));
});

test('assert passes a run that was delivered, and writes a report that an XML parser reads', async () => {
  const args = ['run', 'onramp.happy', ...fresh(), '--speed', 'instant', '--no-wait'];
  const [{ run, seed }, ...sent] = await ground.items(...args);
  expect([run, seed]).toEqual([expect.stringMatching(/^run-[0-9a-f]{8}$/), '42']);
  const file = join(ground.folder, 'passed.xml');
  const checked = await ground.items('assert', 'last', '--junit', file);
  expect(checked.map(({ step, verdict }) => [step, verdict])).toEqual(
    stepsOf(sent).map((step) => [step, 'passed']),
  );
  expect(reportIn(file)).toMatchObject({ tests: '4', failures: '0', cases: stepsOf(sent).map(() => null) });
});

test('assert fails for what was given up, with exit code 1 and the reason in the report', async () => {
  ground.receiver.setBehaviour('410');
  const args = [
    'run',
    'onramp.happy',
    ...fresh(),
    '--speed',
    'instant',
    '--only',
    'created',
    '--wait',
    '20s',
  ];
  const played = await ground.sim(...args);
  ground.receiver.setBehaviour('ok');
  // Whoever waits sees it too.
  expect(played.code, played.stderr).toBe(EXIT.expectation);
  const file = join(ground.folder, 'failed.xml');
  const { code, stdout, stderr } = await ground.sim('assert', 'last', '--junit', file);
  expect([code, stderr]).toEqual([EXIT.expectation, expect.stringMatching(/1 of 1 event failed/)]);
  expect(stdout).toContain(`refused (endpoint_gone) at ${ground.endpoint}`);
  expect(reportIn(file).cases).toEqual([expect.stringContaining('refused (endpoint_gone)')]);
  // The 410 disabled the endpoint.
  await ground.items('endpoints', 'enable', ground.endpoint);
});

test('assert ends with 5 for what is still open, and with 1 when no endpoint subscribed to anything', async () => {
  ground.receiver.setBehaviour('500');
  const args = ['run', 'onramp.happy', ...fresh(), '--speed', 'instant', '--only', 'created'];
  expect((await ground.sim(...args, '--wait', '1s')).code).toBe(EXIT.timeout);
  expect((await ground.sim('assert', 'last', '--no-wait')).code).toBe(EXIT.timeout);
  const late = await ground.sim('assert', 'last', '--within', '100ms');
  expect([late.code, late.stdout]).toEqual([EXIT.expectation, expect.stringContaining('✗ created')]);
  ground.receiver.setBehaviour('ok');
  await ground.items('endpoints', 'update', ground.endpoint, '--events', 'KYB');
  await ground.items(...args.slice(0, 2), ...fresh(), '--speed', 'instant', '--only', 'created');
  const skipped = await ground.sim('assert', 'last');
  expect([skipped.code, skipped.stdout]).toEqual([EXIT.expectation, expect.stringContaining('filtered')]);
  await ground.items('endpoints', 'update', ground.endpoint, '--all-events');
});

test('assert names the runs that exist', async () => {
  const { code, stderr } = await ground.sim('assert', 'run-none');
  expect([code, stderr]).toEqual([
    EXIT.usage,
    expect.stringMatching(/no run "run-none".*the newest are run-/s),
  ]);
});

interface Report {
  readonly tests: string;
  readonly failures: string;
  readonly cases: readonly (string | null)[];
}

/** Reads a report with Python's XML parser. */
function reportIn(file: string): Report {
  const script = `
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
cases = [None if case.find('failure') is None else case.find('failure').text for case in root.iter('testcase')]
print(json.dumps({'tests': root.get('tests'), 'failures': root.get('failures'), 'cases': cases}))`;
  expect(readFileSync(file, 'utf8')).toMatch(/^<\?xml version="1.0"/);
  return JSON.parse(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }));
}

/** Sends the next step of a run that is played by hand, and returns its events. */
const step = async (...args: string[]) => {
  const items = await ground.items('step', ...args, '--no-wait');
  return items.map(({ event_uuid }) => event_uuid);
};

test('step sends the events of the scenario one by one, the same as run does', async () => {
  const when = fresh();
  const planned = await ground.items('run', 'onramp.happy', ...when, '--dry-run');
  const [{ run, paused }] = await ground.items('run', 'onramp.happy', ...when, '--step');
  expect(paused).toBe(true);
  expect(await ground.items('step')).toContainEqual(
    expect.objectContaining({ run, sent: 0, next: planned[0].step }),
  );
  const sent: string[] = [];
  for (const _ of planned) sent.push(...(await step(run)));
  expect(sent).toEqual(planned.map(({ event }) => event.header.eventId));
  const { code, stderr } = await ground.sim('step', run);
  expect([code, stderr]).toEqual([
    EXIT.usage,
    expect.stringMatching(/over after 4 events; possible now: nothing/),
  ]);
  const checked = await ground.items('assert', run);
  expect(checked.map(({ verdict }) => verdict)).toEqual(planned.map(() => 'passed'));
});

test('step goes to a state that is possible, and names those that are for one that is not', async () => {
  const [{ run }] = await ground.items('run', 'onramp.happy', ...fresh(), '--step');
  await step('last');
  const illegal = await ground.sim('step', run, '--to', 'SUCCESS');
  expect([illegal.code, illegal.stderr]).toEqual([
    EXIT.usage,
    expect.stringMatching(
      /cannot go from PENDING to SUCCESS.*possible now: fiatToCrypto\/IN_PROGRESS, fiatToCrypto\/ON_HOLD/s,
    ),
  ]);
  const unknown = await ground.sim('step', run, '--to', 'SUCESS');
  expect([unknown.code, unknown.stderr]).toEqual([
    EXIT.usage,
    expect.stringContaining('did you mean SUCCESS?'),
  ]);
  // The user is verified: it is held while it is examined, and continues by itself.
  await step(run, '--to', 'ON_HOLD');
  await step(run, '--to', 'IN_PROGRESS');
  await step(run, '--to', 'ON_HOLD', '--set', 'data.status=ON_HOLD_KYC');
  await step(run, '--to', 'IN_PROGRESS');
  const [listed] = await ground.items('step');
  expect(listed).toMatchObject({ run, sent: 5, next: 'issued' });
  const bodies = ground.receiver.arrivals.map(({ body }) => JSON.parse(body.toString()));
  const checked = await ground.items('assert', run);
  expect(checked.map(({ subType }) => subType)).toEqual([
    'PENDING',
    'ON_HOLD',
    'IN_PROGRESS',
    'ON_HOLD',
    'IN_PROGRESS',
  ]);
  const held = bodies.filter(({ subType }) => subType === 'ON_HOLD');
  expect(held.map(({ data }) => data.status).sort()).toEqual(['ON_HOLD_KYC', 'ON_HOLD_PROCESS']);
});

test('step holds the transaction of an unverified user until its KYC is done', async () => {
  const [{ run }] = await ground.items('run', 'onramp.happy', ...fresh(), '--step');
  await step('last');
  await step(run, '--to', 'KYC/KYC_NEEDED');
  await step(run, '--to', 'fiatToCrypto/ON_HOLD');
  const refused = await ground.sim('step', run, '--to', 'IN_PROGRESS');
  expect(refused.stderr).toContain('held for KYC: KYC/FULL_USER has to come first');
  for (const to of ['PENDING_KYC_DATA', 'KYC_PENDING', 'FULL_USER']) await step(run, '--to', `KYC/${to}`);
  await step(run, '--to', 'fiatToCrypto/IN_PROGRESS');
  const bodies = ground.receiver.arrivals.map(({ body }) => JSON.parse(body.toString()));
  expect(bodies.findLast(({ subType }) => subType === 'ON_HOLD').data.status).toBe('ON_HOLD_KYC');
});

test('step refuses a run that was played to its end, and says how to begin one by hand', async () => {
  const [{ run }] = await ground.items('run', 'kyc.happy', ...fresh(), '--speed', 'instant');
  const { code, stderr } = await ground.sim('step', run);
  expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining('run kyc.happy --seed 42 --step')]);
});

test('the records of the fifty newest runs are kept', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 51; i += 1) {
    const [{ run }] = await ground.items('run', 'onramp.happy', '--step');
    ids.push(run);
  }
  expect(await ground.items('step')).toHaveLength(50);
  expect((await ground.sim('step', ids[0] ?? '')).stderr).toContain(`there is no run "${ids[0]}"`);
});
