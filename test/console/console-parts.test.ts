/** The parts of the console that compute: how JSON is laid out, and which rows Live keeps and shows. */
import { describe, expect, test } from 'vitest';
import { itemsOf } from '../../console/live/live-items.ts';
import { LiveLog } from '../../console/live/live-log.ts';
import type { Result, Unordered } from '../../console/live/live-row.ts';
import { layOut } from '../../console/parts/json-layout.ts';
import { layOutMachine } from '../../console/story/machine-layout.ts';
import { MACHINES, START } from '../../services/domain/catalog/machines.ts';

const textOf = (json: string) =>
  layOut(json)
    ?.map(({ text }) => text)
    .join('');

describe('a body of JSON', () => {
  const values = [
    [{}, []],
    { a: [1, { b: '{"not": [json]}, "' }], c: {}, d: [] },
    'text with \\ and "quotes"',
    [[], [[]], null, true, -1.5e3],
  ];
  test.each(values.map((value) => ({ value })))(
    'is laid out as JSON.stringify does it, case %#',
    ({ value }) => {
      expect(textOf(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    },
  );

  test('keeps each digit of its numbers', () => {
    expect(textOf('{"amount":12345678901234567890.10}')).toBe('{\n  "amount": 12345678901234567890.10\n}');
  });

  test('that is none is left as it is', () => {
    expect(layOut('<b>no JSON</b>')).toBeUndefined();
  });
});

const row = (key: string, result: Result, at = '2026-01-01T00:00:00.000Z', subject = 's'): Unordered => ({
  ...{ key, at, result, subject, event: key, type: 'KYC', subType: key, endpoint: 'e' },
  ...{ delivery: key, trigger: 'live' },
});
const tried = (attempt: number): Result => ({
  ...{ kind: 'tried', status: 'failed', answered: 500, failure: 'http_5xx', durationMs: 1, attempt },
  ...{ attemptsMax: 7, nextAt: null },
});

describe('the rows of Live', () => {
  test('keep their place when their result changes, and forget no result for older news', () => {
    const log = new LiveLog();
    log.takePast([row('a', tried(2)), row('b', { kind: 'pending' })]);
    log.takePast([row('a', { kind: 'pending' }), row('a', tried(1)), row('b', tried(1))]);
    expect(log.rows().map(({ key, result }) => [key, result])).toEqual([
      ['b', tried(1)],
      ['a', tried(2)],
    ]);
  });

  test('of the past are ordered by their time, before what is new', () => {
    const log = new LiveLog();
    log.takePast([
      row('late', { kind: 'pending' }, '2026-01-01T00:00:02.000Z'),
      row('early', { kind: 'pending' }, '2026-01-01T00:00:01.000Z'),
    ]);
    log.takePast([row('new', { kind: 'pending' })]);
    expect(log.rows().map(({ key }) => key)).toEqual(['new', 'late', 'early']);
  });

  test('are at most some thousands, the newest', () => {
    const log = new LiveLog();
    log.takePast(Array.from({ length: 3500 }, (_, index) => row(`${index}`, { kind: 'pending' })));
    expect([log.rows().length, log.rows()[0]?.key, log.rows().at(-1)?.key]).toEqual([3000, '3499', '500']);
  });

  test('are below their transaction on request, with its steps in order', () => {
    const log = new LiveLog();
    log.takePast(
      ['one', 'other', 'one'].map((subject, index) => row(`${index}`, tried(1), undefined, subject)),
    );
    const items = itemsOf(log.rows(), true).map((item) =>
      item.kind === 'row' ? item.key : [item.group.subject, item.group.steps],
    );
    expect(items).toEqual([['one', ['0', '2']], '2', '0', ['other', ['1']], '1']);
  });
});

test.each(Object.entries(MACHINES))(
  'the picture of the machine of %s has every state once, and none over another',
  (_type, table) => {
    const { boxes, arrows, width, height } = layOutMachine(table);
    const states = Object.keys(table).filter((state) => state !== START);
    expect(boxes.map(({ state }) => state).sort()).toEqual(states.sort());
    expect(arrows.length).toBe(states.reduce((sum, state) => sum + (table[state]?.length ?? 0), 0));
    for (const box of boxes) {
      expect(box.x + box.width).toBeLessThan(width);
      expect(box.y + box.height).toBeLessThan(height);
      const over = boxes.filter(
        (other) =>
          other !== box &&
          other.x < box.x + box.width &&
          box.x < other.x + other.width &&
          other.y < box.y + box.height &&
          box.y < other.y + other.height,
      );
      expect(over).toEqual([]);
    }
  },
);
