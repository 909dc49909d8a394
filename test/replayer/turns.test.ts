/** The turns of replays: each in turn, none faster than its deliveries are attempted, all within the pace. */
import { expect, test } from 'vitest';
import { REPLAY_PACE, type ReplayPace, ReplayTurns } from '../../services/replayer/turns.ts';
import type { ReplayRecord } from '../../services/store/replays.ts';

const PACE: ReplayPace = { ...REPLAY_PACE, perSecondMax: 1000, underWayMax: 10, pageEvents: 10 };

function replay(replayId: string, endpointId: string | null = 'an-endpoint'): ReplayRecord {
  return {
    replayId,
    merchantId: null,
    endpointId,
    only: 'missing',
    since: 0,
    until: 1,
    types: null,
    eventIds: null,
    count: 100,
    status: 'running',
    cancelReason: null,
    published: 0,
    leftOut: 0,
    place: null,
    createdAt: 0,
    finishedAt: null,
  };
}

/** Plays so many turns in which every page is published at once, and answers who had them. */
function play(turns: ReplayTurns, running: readonly ReplayRecord[], count: number): string[] {
  let now = 0;
  const played: string[] = [];
  while (played.length < count) {
    const turn = turns.next(running, now);
    if (turn.kind === 'wait') now += turn.ms;
    else {
      played.push(`${turn.replay.replayId}:${turn.kind}`);
      turns.published(turn.replay, 1, now);
      turns.attempted(turn.replay);
    }
  }
  return played;
}

test('each running replay has its turn', () => {
  const running = ['a', 'b', 'c'].map((id) => replay(id));
  expect(play(new ReplayTurns(PACE), running, 7)).toEqual(
    ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map((id) => `${id}:page`),
  );
});

test('a page of n deliveries takes n of the replay’s pace', () => {
  const turns = new ReplayTurns(PACE);
  const [a, b] = [replay('a'), replay('b')];
  expect(turns.next([a, b], 0)).toEqual({ kind: 'page', replay: a });
  turns.published(a, 50, 0);
  expect(turns.next([a, b], 20)).toEqual({ kind: 'wait', ms: 30 });
  expect(turns.next([a, b], 50)).toEqual({ kind: 'page', replay: b });
});

test('a replay whose deliveries are not attempted waits, and delays no other', () => {
  const turns = new ReplayTurns(PACE);
  const [dead, well] = [replay('dead'), replay('well')];
  turns.published(dead, 10, 0);
  for (const now of [100, 10_000, 10_000_000]) {
    expect(turns.next([dead, well], now)).toEqual({ kind: 'page', replay: well });
  }
  expect(turns.next([dead], 100).kind).toBe('wait');
  expect(turns.attempted(dead)).toBe(true);
  expect(turns.next([dead], 100).kind).toBe('page');
});

test('a replay over many endpoints waits for a dead one, but not for ever', () => {
  const turns = new ReplayTurns({ ...PACE, patienceMs: 5000, patientUnderWayMax: 20 });
  const all = replay('all', null);
  turns.published(all, 10, 0);
  expect(turns.next([all], 4999).kind).toBe('wait');
  expect(turns.next([all], 5000).kind).toBe('page');
  turns.published(all, 10, 5000);
  expect(turns.next([all], 1_000_000).kind).toBe('wait');
});

test('a replay that is through ends with its last attempt, or after a while without it', () => {
  const turns = new ReplayTurns({ ...PACE, lingerMs: 30_000 });
  const a = replay('a');
  turns.published(a, 2, 0);
  turns.through(a);
  expect(turns.next([a], 100).kind).toBe('wait');
  turns.attempted(a);
  expect(turns.next([a], 100).kind).toBe('wait');
  expect(turns.next([a], 30_000).kind).toBe('finish');
  expect(turns.attempted(a)).toBe(true);
  expect(turns.next([a], 100).kind).toBe('finish');
});

test('a replay that failed pauses, and one that has ended is forgotten', () => {
  const turns = new ReplayTurns(PACE);
  const a = replay('a');
  turns.pause(a, 2000);
  expect(turns.next([a], 1999).kind).toBe('wait');
  expect(turns.next([a], 2000).kind).toBe('page');
  turns.published(a, 10, 2000);
  turns.keep([]);
  expect(turns.attempted(a)).toBe(false);
  expect(turns.next([a], 3000).kind).toBe('page');
});
