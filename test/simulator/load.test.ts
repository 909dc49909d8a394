/**
 * `load` sends at its rate whether or not the service keeps up, follows every delivery by the stream, and ends with 0 only
 * when the rate was held and everything arrived.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../simulator/exit.ts';
import { Latencies } from '../../simulator/load/latencies.ts';
import { EventMixer, readMix } from '../../simulator/load/mix.ts';
import { runOpenLoop } from '../../simulator/load/open-loop.ts';
import { plotLatencies } from '../../simulator/load/plot.ts';
import { concludeLoad, type LoadResult } from '../../simulator/load/report.ts';
import { openPlayGround, type PlayGround } from './support/play-ground.ts';

const MIXER = { seed: '42', merchantId: 'merchant-1', entities: 3 };

test('the same seed gives the same sequence of events, each entity’s in the order of its scenarios', () => {
  const take = (seed: string) => {
    const mixer = new EventMixer(readMix(undefined), { ...MIXER, seed });
    return Array.from({ length: 60 }, () => mixer.next(0));
  };
  const events = take('42');
  expect(take('42')).toEqual(events);
  expect(take('43')).not.toEqual(events);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(60);
  const happy = new EventMixer(readMix('onramp.happy'), { ...MIXER, entities: 1 });
  const names = Array.from({ length: 5 }, () => happy.next(0).subType);
  expect(names).toEqual(['PENDING', 'IN_PROGRESS', 'CRYPTO_TRANSFER_ISSUED', 'SUCCESS', 'PENDING']);
});

test('a slow response delays no other event', async () => {
  const counts = { sent: 0, accepted: 0, refused: 0, heldBack: 0 };
  const mixer = new EventMixer(readMix(undefined), MIXER);
  let allSent = () => {};
  // No request is over before the last event was sent: a loop that waited would never get there.
  const sent = new Promise<void>((resolve) => {
    allSent = resolve;
  });
  const { signal } = new AbortController();
  await runOpenLoop({
    plan: { rate: 500, durationMs: 200 },
    sink: {
      send: async (events) => {
        if (counts.sent + events.length >= 100) allSent();
        await sent;
        return events.map(() => ({ status: 'accepted' }));
      },
    },
    next: (now) => mixer.next(now),
    signal,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    counts,
    onSend: () => {},
    onRefused: () => {},
  });
  expect(counts).toEqual({ sent: 100, accepted: 100, refused: 0, heldBack: 0 });
});

test('an event is open until every endpoint has it or skips it, in whichever order the stream tells', () => {
  const latencies = new Latencies({
    endpoint: undefined,
    endpoints: 3,
    startedAt: 0,
    durationMs: 10,
    slices: 2,
  });
  const at = '1970-01-01T00:00:00.000Z';
  const take = (kind: string, endpoint: string, more: object = {}) =>
    latencies.take({ kind, data: { at, event_uuid: 'e', endpoint_uuid: endpoint, ...more } } as never, 0);
  const attempt = (outcome: string, duration_ms: number) => ({ outcome, started_at: at, duration_ms });
  latencies.sent('e', 0);
  take('attempt', 'a', attempt('delivered', 12));
  take('routed', 'a');
  take('skipped', 'b');
  take('attempt', 'c', attempt('retry', 5));
  expect(latencies.open).toBe(1);
  take('attempt', 'c', attempt('exhausted', 5));
  expect(latencies.open).toBe(0);
  expect(latencies.counts).toEqual({ delivered: 1, failed: 1, failedAttempts: 2, skipped: 1 });
  expect(latencies.table()).toMatchObject({ p50: 12, p99: 12, max: 12 });
});

const RESULT: LoadResult = {
  seed: '42',
  plan: { rate: 100, durationMs: 1000 },
  held: { tookMs: 1000, rate: 100, refusal: undefined },
  counts: { sent: 100, accepted: 100, refused: 0, heldBack: 0 },
  deliveries: { delivered: 100, failed: 0, failedAttempts: 0, skipped: 0 },
  open: 0,
  latency: { p50: 1, p90: 1, p99: 1, p99_9: 1, max: 1 },
  slices: [],
};

test.each<[string, Partial<LoadResult>, number | undefined]>([
  ['a rate within two percent', { held: { ...RESULT.held, rate: 98.1 } }, undefined],
  ['a rate that was not held', { held: { ...RESULT.held, tookMs: 1300, rate: 76.9 } }, EXIT.expectation],
  ['a pause that made a short load late', { held: { ...RESULT.held, tookMs: 1240, rate: 80.6 } }, undefined],
  [
    'a rate that was not held over minutes',
    { plan: { rate: 100, durationMs: 60_000 }, held: { ...RESULT.held, tookMs: 61_300, rate: 97.9 } },
    EXIT.expectation,
  ],
  [
    'events that were held back',
    { held: { ...RESULT.held, rate: 90 }, counts: { ...RESULT.counts, sent: 90, heldBack: 10 } },
    EXIT.expectation,
  ],
  ['refused events', { counts: { ...RESULT.counts, refused: 1 } }, EXIT.expectation],
  ['failed deliveries', { deliveries: { ...RESULT.deliveries, failed: 1 } }, EXIT.expectation],
  ['deliveries that are open', { open: 1 }, EXIT.timeout],
  ['no delivery at all', { deliveries: { ...RESULT.deliveries, delivered: 0 } }, EXIT.expectation],
])('a load with %s ends with the right code', (_, part, code) => {
  const conclude = () => concludeLoad({ ...RESULT, ...part });
  if (code === undefined) expect(conclude).not.toThrow();
  else expect(conclude).toThrow(expect.objectContaining({ exitCode: code }));
});

test('the plot is plain text of at most 80 columns, with its peak at the top', () => {
  const slices = Array.from({ length: 68 }, (_, i) => ({ p50: 2, p99: i === 40 ? 900 : 4 }));
  const plot = plotLatencies([...slices.slice(1), { p50: undefined, p99: undefined }], '30 s');
  expect(plot).toMatch(/^[ -~\n]+$/);
  const lines = plot.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^ +900 ms \| +\*$/);
  expect(lines.at(-1)).toMatch(/o p50 +\* p99 +30 s$/);
  expect(plotLatencies([{ p50: undefined, p99: undefined }], '1 s')).toBe('');
});

describe('against a service', () => {
  let ground: PlayGround;

  beforeAll(async () => {
    ground = await openPlayGround();
  }, 60_000);

  afterAll(() => ground?.close());

  test('load follows every delivery, at hundreds of events, and reports latencies', async () => {
    const file = join(ground.folder, 'mix.yaml');
    writeFileSync(file, 'onramp.happy: 2\nkyc.happy: 1\n');
    const before = ground.receiver.arrivals.length;
    const args = ['load', '--rate', '150', '--duration', '2s', '--mix', file, '--entities', '20'];
    const { code, stdout, stderr } = await ground.sim(...args, '--output', 'json');
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ rate: 150, sent: 300, accepted: 300, delivered: 300, failed: 0, open: 0 });
    expect(Object.values(result.latency_ms)).toEqual(Array(5).fill(expect.any(Number)));
    expect(ground.receiver.arrivals.length - before).toBe(300);
    // A busy machine may be too slow for the rate: then that is all that is wrong.
    if (code !== EXIT.ok)
      expect([code, stderr]).toEqual([1, expect.stringContaining('the rate was not held')]);
  });

  test('load ends with 1 for deliveries that fail', async () => {
    ground.receiver.setBehaviour('410');
    const args = ['load', '--rate', '10', '--duration', '1s', '--wait', '10s'];
    const { code, stdout, stderr } = await ground.sim(...args);
    ground.receiver.setBehaviour('ok');
    expect(code, stdout).toBe(EXIT.expectation);
    expect(stderr).toMatch(/deliveries failed|rate was not held/);
  });

  test('load brings its own receiver where no endpoint is active, or says that there is none', async () => {
    const args = ['load', '--rate', '10', '--duration', '1s', '--output', 'json'];
    await ground.items('endpoints', 'update', ground.endpoint, '--events', 'KYB');
    await ground.items('endpoints', 'disable', ground.endpoint);
    // A folder without the sandbox's authority cannot make a receiver that the service trusts.
    const elsewhere = await ground.sim(...args, '--data-dir', ground.setup.dataDir);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining('no endpoint is active'),
    ]);
    const { stdout } = await ground.sim(...args);
    expect(JSON.parse(stdout)).toMatchObject({ sent: 10, delivered: 10, open: 0 });
    expect((await ground.items('endpoints', 'list')).map(({ uuid }) => uuid)).toEqual([ground.endpoint]);
  });

  test.each<[string, string[], RegExp]>([
    ['a rate that is too high', ['--rate', '5001'], /at most 5000/],
    ['a duration that is too long', ['--duration', '11m'], /from 1s to 10m/],
    ['a mix that does not exist', ['--mix', 'onramp.hapy'], /neither a file nor a scenario/],
    [
      'an unknown endpoint',
      ['--endpoint', '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11'],
      /webhook_endpoint_not_found/,
    ],
    ['keys of production', ['--api-key', 'sk_live_x'], /a live key/],
    ['other keys', ['--api-key', 'sk_test_x'], /API key of a sandbox/],
  ])('load refuses %s', async (_, args, message) => {
    const { code, stderr } = await ground.sim('load', ...args);
    expect(code).not.toBe(EXIT.ok);
    expect(stderr).toMatch(message);
  });
});
