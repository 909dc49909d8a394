/** Guarantee: the embedded engine recognises an event that it has seen, for as long as it keeps it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reader } from '../../../services/broker/sqlite/file/reads.ts';
import { RecentCommits } from '../../../services/broker/sqlite/file/recent-commits.ts';
import { openBrokerFile } from '../../../services/broker/sqlite/file/schema.ts';
import { FRESH, OTHER, SAME, SeenEvents } from '../../../services/broker/sqlite/seen-events.ts';
import { eventCodec } from '../../../services/codec/records.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { anEvent } from '../../support/records/broker-records.ts';

const clock = systemClock();
/** Where the streams of an empty file go on. */
const NOWHERE = [0, 0, 0, 0, 0, 0, 0];
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-broker-'));
  file = join(folder, 'broker.db');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the memory of recent events', () => {
  /** The records of events, as the stream has them: ids of both common kinds, and one that is no UUID. */
  const recordOf = (eventId: string, subType = 'KYC_APPROVED') =>
    eventCodec.toBuffer(anEvent({ eventId, subType }));
  const timed = (index: number) =>
    `01890a5d-ac96-7${String(index % 1000).padStart(3, '0')}-8${randomUUID().slice(20)}`;

  it('recognises events after they moved to the table, and after the file was opened again', () => {
    const event = anEvent();
    const record = (eventId: string, subType = 'KYC_APPROVED') =>
      eventCodec.toBuffer({ ...event, eventId, subType });
    const ids = Array.from({ length: 120_000 }, (_, index) => (index % 2 ? timed(index) : randomUUID()));
    ids.push('not-a-uuid', `${randomUUID()}-longer`, randomUUID().toUpperCase());
    let db = openBrokerFile(file);
    const recent = new RecentCommits(db);
    const first = new SeenEvents(db, recent);
    const write = db.transaction((seen: SeenEvents, some: readonly string[]) => {
      expect(some.filter((id) => seen.check(record(id)) !== FRESH)).toEqual([]);
      const fresh = seen.takeFresh();
      recent.write(NOWHERE, fresh);
      seen.moveOn(fresh, clock.now());
    });
    for (let at = 0; at < ids.length; at += 500) write(first, ids.slice(at, at + 500));
    const inTable = Number(db.prepare('SELECT count(*) FROM seen_event').pluck().get());
    expect(inTable).toBeGreaterThan(20_000);
    const known = (seen: SeenEvents) => {
      expect(ids.filter((id) => seen.check(record(id)) !== SAME)).toEqual([]);
      expect(seen.check(record(ids[0] ?? '', 'OTHER'))).toBe(OTHER);
      expect(seen.check(record(ids.at(-3) ?? '', 'OTHER'))).toBe(OTHER);
    };
    known(first);
    db.close();
    db = openBrokerFile(file);
    known(new SeenEvents(db, new RecentCommits(db)));
    // What moved to the table does not stay beside it for ever.
    const beside = db.prepare('SELECT sum(length(ids)) / 24 FROM seen_recent').pluck().get();
    expect(Number(beside)).toBeLessThan(ids.length);
    db.close();
  });

  it('does not keep events of a commit that failed', () => {
    const db = openBrokerFile(file);
    const seen = new SeenEvents(db, new RecentCommits(db));
    const id = randomUUID();
    const record = recordOf(id);
    expect(seen.check(record)).toBe(FRESH);
    seen.rolledBack();
    expect(seen.check(record)).toBe(FRESH);
    expect(seen.check(record)).toBe(SAME);
    db.close();
  });

  it('forgets events after their retention', () => {
    const day = 24 * 60 * 60 * 1000;
    const db = openBrokerFile(file);
    const add = db.prepare('INSERT INTO seen_event VALUES (?, 1, ?)');
    for (let index = 0; index < 25; index += 1) {
      const days = index % 5 === 0 ? 1 : 3;
      add.run(randomBytes(16), clock.now() - days * day);
    }
    const reader = new Reader(db, new RecentCommits(db));
    const forget = () =>
      reader.forgetEvents({ kind: 'forgetEvents', before: clock.now() - 2 * day, limit: 10 });
    // Ten at a time; the fourth step finds the end.
    expect(
      [forget(), forget(), forget(), forget()].map((reply) => reply.kind === 'forgotten' && reply.more),
    ).toEqual([true, true, true, false]);
    expect(db.prepare('SELECT count(*) FROM seen_event').pluck().get()).toBe(5);
    db.close();
  });
});
