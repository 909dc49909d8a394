/** Guarantee: what is removed of an attempt is gone from its group, and everything else of the group is left. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openConnection } from '../../../services/store/sqlite/connection.ts';
import { MetricReads } from '../../../services/store/sqlite/lists/metric-reads.ts';
import {
  AttemptContentReads,
  AttemptContentWrites,
  type AttemptPlace,
  headersText,
} from '../../../services/store/sqlite/log/attempt-contents.ts';
import { TallyRows } from '../../../services/store/sqlite/log/tally-rows.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { HOUR_MS } from '../../support/records/journal-entries.ts';

let directory: string;
let db: Database;
let reads: AttemptContentReads;
let writes: AttemptContentWrites;
let tallies: TallyRows;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'attempt-contents-'));
  db = openConnection(join(directory, 'store.db'), 'write');
  migrate(db, join(directory, 'store.db'));
  reads = new AttemptContentReads(db);
  tallies = new TallyRows(db);
  writes = new AttemptContentWrites(db, tallies);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true });
});

/** Above 32 bits, as after many deliveries. */
const FIRST = 2 ** 40 + 1;
const headersOf = (n: number) => [['x-number', `ü${n}`]] as const;
const bodyOf = (n: number) => Buffer.from(`answer ${n}`);

/** Adds contents of attempts; every seventh got no response. Returns where they are. */
function added(count: number, body: (n: number) => Buffer = bodyOf): AttemptPlace[] {
  const places = Array.from({ length: count }, (_, n) => {
    const place = { attemptId: FIRST + 256 * n, content: writes.place() };
    const response = { status: 200, headers: headersOf(n), body: body(n), bodyTruncated: n % 2 === 1 };
    writes.add(place.attemptId, n % 7 === 0 ? null : response, n % 5 !== 0, `v1,ü${n}`);
    return place;
  });
  writes.flush();
  return places;
}

function expected(n: number, isBodyRemoved: boolean) {
  const hasResponse = n % 7 !== 0;
  const keeps = hasResponse && n % 5 !== 0 && !isBodyRemoved;
  return {
    headers: hasResponse ? JSON.stringify(headersOf(n)) : null,
    body: keeps ? bodyOf(n).toString() : '',
    isTruncated: hasResponse && n % 2 === 1,
    signature: `v1,ü${n}`,
  };
}

function read(place: AttemptPlace) {
  const { headers, body, ...rest } = reads.of(place);
  return { ...rest, headers: headersText(headers), body: body.toString() };
}

const QUERY = { from: 0, to: HOUR_MS, step: HOUR_MS };
const groups = () => db.prepare('SELECT count(*) FROM attempt_content').pluck().get();

it('are read as they were written', () => {
  for (const [n, place] of added(1000).entries()) expect(read(place)).toEqual(expected(n, false));
  expect(groups()).toBe(Math.ceil(1000 / 128));
});

it('lose the bodies that are removed, and no other', () => {
  const places = added(1000);
  const isRemoved = (n: number) => n % 3 === 0 || (n > 300 && n < 600);
  const had = writes.removeBodies(places.filter((_, n) => isRemoved(n)));
  expect(had).toEqual(
    places.filter((_, n) => isRemoved(n) && expected(n, false).body !== '').map(({ attemptId }) => attemptId),
  );
  for (const [n, place] of places.entries()) expect(read(place)).toEqual(expected(n, isRemoved(n)));
  expect(writes.removeBodies(places.filter((_, n) => isRemoved(n)))).toEqual([]);
});

it('are removed from their group, which goes with the last one', () => {
  const places = added(1000);
  const isRemoved = (n: number) => n % 3 === 0 || (n > 300 && n < 600);
  writes.remove(places.filter((_, n) => isRemoved(n)));
  for (const [n, place] of places.entries())
    if (isRemoved(n)) expect(() => reads.of(place)).toThrow(`${place.attemptId} is not in its group`);
    else expect(read(place)).toEqual(expected(n, false));
  writes.remove(places);
  expect(groups()).toBe(0);
});

it('of a transaction that was rolled back are forgotten', () => {
  writes.add(FIRST, null, true, 'lost');
  writes.rolledBack();
  const [place] = added(1);
  expect(place && [...reads.group(place.content).values()].map(({ signature }) => signature)).toEqual([
    'v1,ü0',
  ]);
});

/** As the log counts an attempt of an endpoint, in the first hour since the epoch. */
function count(): void {
  tallies.count({
    ...{ endpoint: 1, type: 1, startedAt: 7 * 60_000, durationMs: 20 },
    ...{ outcome: 0, failureCode: 0 },
  });
}

const counts = () => new MetricReads(db).counts(QUERY, [1], { from: 0, to: HOUR_MS });

it('keep what their batch counted, also where nobody merged it before they are removed', () => {
  // A full group: nothing else comes after it in the batch.
  for (let n = 0; n < 128; n += 1) count();
  const places = added(128);
  expect(counts()).toMatchObject([{ attempts: 128 }]);
  writes.remove(places);
  expect(groups()).toBe(0);
  expect(counts()).toMatchObject([{ attempts: 128 }]);
});

it('of a later process have other groups than those whose counts are merged', () => {
  count();
  writes.remove(added(1));
  tallies = new TallyRows(db);
  writes = new AttemptContentWrites(db, tallies);
  count();
  added(1);
  expect(counts()).toMatchObject([{ attempts: 2 }]);
  tallies.merge();
  expect(counts()).toMatchObject([{ attempts: 2 }]);
});

it('are in small groups where they are large', () => {
  const places = added(40, (n) => Buffer.alloc(16 * 1024, n));
  expect(Math.max(...places.map(({ content }) => reads.group(content).size))).toBeLessThan(12);
});
