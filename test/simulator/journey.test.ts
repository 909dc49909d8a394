/**
 * A journey that is recorded from one sandbox is replayed in another: the same events in the same order, with the
 * original intervals, and on request with new ids, new times and nobody's personal data.
 */
import { execFileSync, spawn } from 'node:child_process';
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../simulator/exit.ts';
import { eventually } from '../support/eventually.ts';
import { startSim } from './support/command-line.ts';
import { openPlayGround, type PlayGround } from './support/play-ground.ts';

describe('from one sandbox to another', () => {
  let from: PlayGround;
  let into: PlayGround;
  let file: string;

  beforeAll(async () => {
    [from, into] = await Promise.all([openPlayGround(), openPlayGround()]);
    file = join(from.folder, 'journey.ndjson');
  }, 60_000);

  afterAll(async () => {
    await from?.close();
    await into?.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: lines of a journey.
  const linesOf = (path: string): any[] =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  test('a recorded journey is replayed with the same bodies and the original intervals', async () => {
    await from.items('run', 'onramp.happy', '--seed', '1', '--speed', '5x', '--wait', '20s');
    const [{ events }] = await from.items('record', '--since', '5m', '--out', file);
    expect(events).toBe(4);
    const lines = linesOf(file);
    // Played at five times the speed: 0, 0.4, 1 and 1.8 s.
    const gaps = lines.map(({ offset_ms }) => offset_ms);
    expect(gaps[0]).toBe(0);
    expect(gaps[3]).toBeGreaterThan(1500);
    expect(lines.every(({ endpoints }) => endpoints[0].status === 'delivered')).toBe(true);

    const [{ run }, ...sent] = await into.items('replay', file, '--wait', '20s');
    expect((await into.items('assert', run)).map(({ verdict }) => verdict)).toEqual(
      lines.map(() => 'passed'),
    );
    const bodies = (ground: PlayGround) => ground.receiver.arrivals.map(({ body }) => body.toString());
    expect(bodies(into).sort()).toEqual(bodies(from).sort());
    const times = sent.filter(({ kind }) => kind === 'sent').map(({ at }) => Date.parse(at));
    // Never earlier than it was; how much later depends on the machine.
    for (const [i, time] of times.entries()) {
      expect(time - (times[0] ?? 0)).toBeGreaterThanOrEqual((gaps[i] ?? 0) - 50);
    }
  });

  test('a journey that is here already is told to be, and gets through with new ids and times', async () => {
    const again = await into.sim('replay', file, '--speed', 'instant');
    expect([again.code, again.stderr]).toEqual([
      EXIT.ok,
      expect.stringMatching(/4 of 4 were here already.*--new-ids/),
    ]);
    const before = into.receiver.arrivals.length;
    const args = [
      '--speed',
      'instant',
      '--new-ids',
      '--rebase-time',
      '--redact',
      '--seed',
      '7',
      '--wait',
      '20s',
    ];
    const [{ run }, ...sent] = await into.items('replay', file, ...args);
    await into.items('assert', run);
    const fresh = into.receiver.arrivals.slice(before).map(({ body }) => JSON.parse(body.toString()));
    const old = linesOf(file).map(({ event }) => event);
    // One transaction of one user, as before, and neither of them the old one.
    expect(new Set(fresh.map(({ uuid }) => uuid)).size).toBe(1);
    expect(new Set(fresh.map(({ data }) => data.transactionUuid)).size).toBe(1);
    expect(fresh[0].uuid).not.toBe(old[0].header.entityId);
    expect(fresh[0].data.transactionUuid).not.toBe(old[0].data.transactionUuid);
    expect(fresh.find(({ data }) => data.senderDetails).data.senderDetails.senderName).not.toBe(
      old.find(({ data }) => data.senderDetails).data.senderDetails.senderName,
    );
    const ids = sent.filter(({ kind }) => kind === 'sent').map(({ event_uuid }) => event_uuid);
    expect(old.map(({ header }) => header.eventId)).not.toContain(ids[0]);
    // The same seed gives the same ids: with another time, each is another event under an id that is taken.
    const taken = await into.sim('replay', file, ...args, '--rebase-time');
    expect([taken.code, taken.stderr]).toEqual([
      EXIT.expectation,
      expect.stringContaining('4 events were put into quarantine'),
    ]);
  });

  test('replay --only failed sends what was not delivered', async () => {
    from.receiver.setBehaviour('410');
    const run = ['run', 'kyc.happy', '--speed', 'instant', '--only', 'needed', '--wait', '20s'];
    const steps = (await from.items('run', 'kyc.happy', '--dry-run')).map(({ step }) => step);
    expect((await from.sim(...run.slice(0, 5), steps[0], ...run.slice(6))).code).toBe(EXIT.expectation);
    from.receiver.setBehaviour('ok');
    const all = join(from.folder, 'all.ndjson');
    await from.items('record', '--since', '5m', '--out', all);
    expect(linesOf(all)).toHaveLength(5);
    const failed = await into.items('replay', all, '--only', 'failed', '--dry-run');
    expect(failed.map(({ event }) => `${event.type}/${event.header.subType}`)).toEqual(['KYC/KYC_NEEDED']);
    await from.items('endpoints', 'enable', from.endpoint);
  });

  test.each([['--since', ['--since', '5m']]])(
    'record %s writes into a pipe that is named, once, and leaves it a pipe',
    async (_, args) => {
      const path = join(from.folder, `journey${args[0]}.pipe`);
      execFileSync('mkfifo', [path]);
      const reader = spawn('cat', [path]);
      const read = text(reader.stdout);
      const recording = startSim(['record', ...args, '--out', path, '--output', 'json'], from.access);
      const { code, stdout, stderr } = await recording.finished;
      expect(code, stderr).toBe(EXIT.ok);
      const lines = (await read).split('\n').filter(Boolean);
      expect(lines).toHaveLength(JSON.parse(stdout).events);
      expect(lstatSync(path).isFIFO()).toBe(true);
    },
    60_000,
  );

  test('record --follow writes what comes, of one user, redacted, and ends with Ctrl-C', async () => {
    const path = join(from.folder, 'followed.ndjson');
    const user = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
    const args = ['record', '--follow', '--entity', user, '--redact', '--out', path, '--output', 'ndjson'];
    const following = startSim(args, from.access);
    await following.line('recording');
    await from.items('run', 'onramp.happy', '--speed', 'instant');
    await from.items('run', 'onramp.happy', '--speed', 'instant', '--user', user, '--wait', '20s');
    await eventually('its events are in the file', () => linesOf(path).length === 4);
    following.process.kill('SIGINT');
    const { code, stdout, stderr } = await following.finished;
    expect(code, stderr).toBe(EXIT.ok);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ events: 4, left_out: 0 });
    const lines = linesOf(path);
    expect(lines.every(({ event, redacted: is }) => is && event.header.entityId === user)).toBe(true);
    expect(lines.map(({ endpoints }) => endpoints[0].status)).toEqual(lines.map(() => 'delivered'));
    const { stdout: plain } = await from.sim('record', '--entity', user, '--out', file, '--output', 'json');
    expect(JSON.parse(plain).events).toBe(4);
    expect(lines.map(({ event }) => event.data.amountFiat)).toEqual(
      linesOf(file).map(({ event }) => event.data.amountFiat),
    );
    expect(lines.at(-1).event.data.walletAddress).not.toBe(linesOf(file).at(-1).event.data.walletAddress);
  }, 60_000);

  test.each<[string, string, RegExp]>([
    ['that is not JSON', 'nonsense', /:1: is not JSON/],
    ['without an event', '{"offset_ms":0}', /:1: has no event: is it a journey/],
    ['whose event is none', '{"offset_ms":0,"event":{"type":"KIC"}}', /:1: \/event\/type .*did you mean KYC/],
    ['that is empty', '', /has no events.*record --out/s],
  ])('replay refuses a file %s, and names the line', async (_, text, message) => {
    const path = join(into.folder, 'wrong.ndjson');
    writeFileSync(path, text);
    const { code, stderr } = await into.sim('replay', path);
    rmSync(path);
    expect([code, stderr]).toEqual([EXIT.usage, expect.stringMatching(message)]);
  });

  test('a run that was recorded while it was played is replayed too, but its outcome is not known', async () => {
    const path = join(from.folder, 'run.ndjson');
    await from.items('run', 'kyc.happy', '--speed', 'instant', '--record', path);
    expect(await into.items('replay', path, '--dry-run')).toHaveLength(linesOf(path).length);
    const { code, stderr } = await into.sim('replay', path, '--only', 'failed');
    expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining('does not say what became')]);
  });
});
