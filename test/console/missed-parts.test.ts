/** The parts of Missed that compute: the window, what was missed in it, and its dark spells. */
import { describe, expect, test } from 'vitest';
import { collect, type Page } from '../../console/api/pages.ts';
import { Refusal } from '../../console/api/refusal.ts';
import type { Delivery, EventListed, MetricSeries } from '../../console/api/shapes.ts';
import { missedSearchIn, windowOf } from '../../console/missed/missed-search.ts';
import { columnsOf, type Mark, marksOf, missedOf, spellsOf } from '../../console/missed/spells.ts';

const NOW = Date.parse('2026-01-02T10:07:00Z');
const iso = (time: string) => `2026-01-02T${time}.000Z`;
const at = (time: string) => Date.parse(iso(time));
const window = windowOf({}, NOW);

const delivery = (status: string, time: string, more: Partial<Delivery> = {}) =>
  ({
    endpoint_uuid: 'e',
    status,
    created_at: iso(time),
    trigger: 'live',
    attempts_max: 7,
    ...more,
  }) as Delivery;
const skipped = (time: string, verdict = 'endpoint_disabled') => {
  const endpoints = [{ endpoint_uuid: 'e', verdict, delivery_uuid: null }];
  return { created_at: iso(time), endpoints } as unknown as EventListed;
};
const mark = (time: string, reason: Mark['reason'] = 'skipped'): Mark => ({
  endpoint: 'e',
  at: at(time),
  reason,
});
const arrived = (...times: readonly string[]) =>
  ({ points: times.map((time) => ({ at: iso(time), attempts: 3, failed: 1 })) }) as unknown as MetricSeries;

describe('the window of Missed', () => {
  test('ends with the present column, and is as long as was chosen', () => {
    expect(window).toMatchObject({ hours: 24, to: at('10:15:00'), from: at('10:15:00') - 86_400_000 });
    expect(windowOf({ hours: 168 }, NOW)).toMatchObject({ hours: 168, stepMs: 7_200_000 });
  });

  test('is long enough for the range of the address', () => {
    expect(windowOf({ since: '2025-12-29T00:00:00.000Z' }, NOW).hours).toBe(168);
    expect(windowOf({ since: '2025-01-01T00:00:00.000Z' }, NOW).hours).toBe(720);
  });

  test('passes over what is no choice', () => {
    const range = { since: iso('09:00:00'), until: iso('10:00:00') };
    expect(missedSearchIn({ ...range, endpoint: 'e', hours: 168, more: 1 })).toEqual({
      ...{ ...range, endpoint: 'e', hours: 168 },
    });
    expect(missedSearchIn({ since: range.until, until: range.since, hours: 5, endpoint: '' })).toEqual({});
    expect(missedSearchIn({ since: 'yesterday', until: range.until })).toEqual({});
  });
});

describe('an event that was missed', () => {
  test('is marked once, with why, and nothing else is', () => {
    const requested = { trigger: 'replay', attempts_max: 1, occurred_at: iso('09:00:00') };
    const marks = marksOf(
      [
        delivery('refused', '09:01:00'),
        delivery('exhausted', '09:30:00', requested),
        delivery('exhausted', '09:31:00', { ...requested, trigger: 'manual' }),
        delivery('exhausted', '09:32:00', { ...requested, trigger: 'test' }),
        delivery('failed', '09:03:00'),
        delivery('delivered', '09:04:00'),
      ],
      [skipped('09:02:30'), skipped('09:02:40', 'filtered'), skipped('09:02:50', 'routed')],
    );
    expect(marks).toEqual([mark('09:01:00', 'refused'), mark('09:02:30'), mark('09:03:00', 'owed')]);
    expect(missedOf(marks)).toBe(2);
  });

  test('is marked at its own time when it was skipped, and the replay fails', () => {
    const replayed = { trigger: 'replay', occurred_at: iso('02:10:00') };
    const marks = [delivery('failed', '09:40:00', replayed), delivery('exhausted', '09:40:00', replayed)];
    expect(marksOf(marks, [])).toEqual([mark('02:10:00', 'owed'), mark('02:10:00', 'exhausted')]);
  });

  test('is counted in the column of its time, beside the attempts', () => {
    const columns = columnsOf(window, [mark('10:01:00'), mark('10:02:00', 'owed')], arrived('10:00:00'));
    expect(columns.length).toBe(96);
    expect(columns.at(-1)).toEqual({ missed: 1, owed: 1, delivered: 2, failed: 1 });
    expect(columns.at(-2)).toEqual({ missed: 0, owed: 0, delivered: 0, failed: 0 });
  });
});

describe('a dark spell', () => {
  const spells = (marks: readonly Mark[], series?: MetricSeries) =>
    spellsOf(window, marks, columnsOf(window, marks, series));

  test('lasts through silence, and has the minutes of all its events', () => {
    expect(spells([mark('02:10:20'), mark('05:00:00', 'cancelled'), mark('06:31:00')])).toEqual([
      { from: at('02:09:00'), to: at('06:32:00'), count: 3, reasons: { skipped: 2, cancelled: 1 } },
    ]);
  });

  test('ends where something arrived, and what is still being tried begins none', () => {
    const marks = [mark('02:10:20'), mark('03:00:00', 'owed'), mark('05:00:00')];
    expect(spells(marks, arrived('03:30:00')).map(({ count }) => count)).toEqual([1, 1]);
    expect(spells([mark('03:00:00', 'owed')])).toEqual([]);
  });
});

describe('the pages of a list', () => {
  const pages = (sizes: readonly number[], before = (_page: number) => {}) => {
    let page = 0;
    return async (): Promise<Page<number>> => {
      before(page);
      page += 1;
      return {
        data: Array.from({ length: sizes[page - 1] ?? 0 }, (_, n) => n),
        next_cursor: sizes[page] ? `${page}` : null,
      };
    };
  };

  test('are read to the end, or to a bound, which is said', async () => {
    const read: number[] = [];
    const options = { onRead: (items: number) => read.push(items) };
    expect(await collect(pages([2, 0, 1].map((n) => n || 2)), options)).toMatchObject({ isCut: false });
    expect(read).toEqual([2, 4, 5]);
    expect(await collect(pages([2, 2, 2]), { itemsMax: 3 })).toEqual({ items: [0, 1, 0], isCut: true });
    expect(await collect(pages([2, 2]), { itemsMax: 4 })).toMatchObject({ isCut: false });
  });

  test('wait where the API limits requests, and end with another refusal', async () => {
    const refused = (status: number) => {
      const headers = { 'retry-after': '0' };
      return new Refusal(new Response(null, { status, headers }), {});
    };
    let refusals = 0;
    const limited = pages([1, 1], (page) => {
      if (page === 1 && refusals++ < 2) throw refused(429);
    });
    expect(await collect(limited)).toMatchObject({ items: [0, 0] });
    const failing = pages([1], () => {
      throw refused(503);
    });
    await expect(collect(failing)).rejects.toMatchObject({ status: 503 });
  });

  test('are read no further when the reader has gone', async () => {
    const ending = new AbortController();
    const read = collect(
      pages([1, 1], () => ending.abort()),
      { signal: ending.signal },
    );
    await expect(read).rejects.toThrow(/abort/);
  });
});
