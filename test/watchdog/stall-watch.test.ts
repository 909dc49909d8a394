import { expect, it } from 'vitest';
import type { Glance } from '../../services/watchdog/activity.ts';
import { glanceAt, partsOf, SharedActivity } from '../../services/watchdog/activity.ts';
import { StallWatch } from '../../services/watchdog/stall-watch.ts';

const EVERY_MS = 250;
const BOUNDS = { reportMs: 2000, earlyMs: Number.POSITIVE_INFINITY, endMs: 20_000 };
const ATTEMPT = 'attempt delivery=d attempt=1';

/** Looks at times of a main thread that stands still from the first look on, but for a change of the glance. */
function verdictsAt(
  times: readonly number[],
  glanceOf: (at: number) => Partial<Glance> = () => ({}),
  bounds = BOUNDS,
) {
  const watch = new StallWatch(bounds, EVERY_MS);
  const still: Glance = { heartbeat: 1, section: 1, label: ATTEMPT, lastLabel: ATTEMPT };
  return times.flatMap((at) => {
    const verdict = watch.look(at, { ...still, ...glanceOf(at) });
    return verdict ? [{ at, ...verdict }] : [];
  });
}

const looks = (untilMs: number, everyMs = EVERY_MS) =>
  Array.from({ length: untilMs / everyMs + 1 }, (_, n) => n * everyMs);

it('a stall is reported once, and over after the bound', () => {
  expect(verdictsAt(looks(60_000))).toEqual([
    { at: 2000, kind: 'stalled', stalledMs: 2000 },
    { at: 20_000, kind: 'over', stalledMs: 20_000, label: ATTEMPT },
  ]);
});

it('a heartbeat ends it, and its length is told', () => {
  const beats = (at: number) => ({ heartbeat: at >= 5000 ? at : 1 });
  expect(verdictsAt(looks(30_000), beats)).toEqual([
    { at: 2000, kind: 'stalled', stalledMs: 2000 },
    { at: 5000, kind: 'resumed', stalledMs: 4750 },
  ]);
});

it('is told early once, with what the main thread is busy with, and again when it stands still again', () => {
  const bounds = { ...BOUNDS, earlyMs: 5000 };
  const beats = (at: number) => ({ heartbeat: at >= 8000 ? 2 : 1 });
  expect(verdictsAt(looks(30_000), beats, bounds).map(({ at, kind }) => [at, kind])).toEqual([
    [2000, 'stalled'],
    [5000, 'early'],
    [8000, 'resumed'],
    [10_000, 'stalled'],
    [13_000, 'early'],
    [28_000, 'over'],
  ]);
  expect(verdictsAt(looks(5000), undefined, bounds).at(-1)).toMatchObject({ kind: 'early', label: ATTEMPT });
});

it('a short one is not told', () => {
  const beats = (at: number) => ({ heartbeat: Math.floor(at / 1750) });
  expect(verdictsAt(looks(60_000), beats)).toEqual([]);
});

it.each([
  ['suspended for an hour', [...looks(1000), ...looks(900).map((at) => at + 3_600_000)]],
  ['starved: every look is late', looks(600_000, 600)],
  ['suspended again and again', looks(600_000, 5000)],
])('time of a process that is %s does not count', (_, times) => {
  expect(verdictsAt(times)).toEqual([]);
});

it('time in which the main thread waits for a CPU does not count', () => {
  const watch = new StallWatch(BOUNDS, EVERY_MS);
  const glance: Glance = { heartbeat: 1, section: 1, label: ATTEMPT, lastLabel: ATTEMPT };
  const verdicts = looks(40_000).flatMap((at) => {
    const verdict = watch.look(at, glance, at * 0.75);
    return verdict ? [{ at, kind: verdict.kind }] : [];
  });
  expect(verdicts).toEqual([{ at: 8000, kind: 'stalled' }]);
});

it('a suspension within a stall only lengthens it', () => {
  const times = looks(40_000).map((at) => (at > 10_000 ? at + 100_000 : at));
  expect(verdictsAt(times)).toEqual([
    { at: 2000, kind: 'stalled', stalledMs: 2000 },
    { at: 120_250, kind: 'over', stalledMs: 20_000, label: ATTEMPT },
  ]);
});

it('a thread that goes from one piece of work to the next blames none of them', () => {
  const verdicts = verdictsAt(looks(30_000), (at) => ({ section: at }));
  expect(verdicts.at(-1)).toEqual({ at: 20_000, kind: 'over', stalledMs: 20_000, label: null });
});

it('without a bound nothing is over', () => {
  const bounds = { ...BOUNDS, endMs: Number.POSITIVE_INFINITY };
  expect(verdictsAt(looks(600_000), undefined, bounds)).toEqual([
    { at: 2000, kind: 'stalled', stalledMs: 2000 },
  ]);
});

it('labels nest, end with their work even when it throws, and can be taken apart', () => {
  const activity = new SharedActivity();
  const labels: (string | null)[] = [];
  const look = () => void labels.push(glanceAt(activity.shared).label);
  look();
  activity.within('request method=POST route=/a', () => {
    look();
    expect(() =>
      activity.within(ATTEMPT, () => {
        look();
        throw new Error('stopped');
      }),
    ).toThrow('stopped');
    look();
    const leave = activity.enter('event event=e');
    look();
    leave();
    look();
  });
  look();
  const [outer, inner] = ['request method=POST route=/a', ATTEMPT];
  expect(labels).toEqual([null, outer, inner, outer, 'event event=e', outer, null]);
  expect(glanceAt(activity.shared).lastLabel).toBe(outer);
  expect(partsOf(inner)).toEqual({ kind: 'attempt', fields: { delivery: 'd', attempt: '1' } });
  expect(partsOf('alone')).toEqual({ kind: 'alone', fields: {} });
});

it('a label that is too long is cut, and the next one is whole', () => {
  const activity = new SharedActivity();
  activity.within(`event event=${'x'.repeat(5000)}`, () => {
    expect(glanceAt(activity.shared).label?.length).toBe(1024);
  });
  activity.within(ATTEMPT, () => expect(glanceAt(activity.shared).label).toBe(ATTEMPT));
});
