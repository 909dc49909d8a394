import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { packId } from '../../sqlite/ids.ts';
import type { RecentCommits } from './file/recent-commits.ts';

const ID_BYTES = 16;
/** In `seen_recent`: the id, then its content hash as f64. */
const ENTRY_BYTES = ID_BYTES + 8;
const UUID_TEXT_LENGTH = 36;
const BUCKETS = 256;
/** A byte that is random in UUIDs of versions 4 and 7; those before it hold the time, the version and the variant. */
const RANDOM_BYTE = 9;
/** About the number of ids that are not in the table yet: enough that those of one bucket are close together in it. */
const RECENT_MAX = 32_768;

export const FRESH = 0;
export const SAME = 1;
export const OTHER = 2;

/**
 * Recognises repeated events. Ids are random: inserting each into the table by itself would write a page of it. So they
 * are kept in memory first, and in the file in the slots of recent commits, then in rows of `seen_recent`; they move to the
 * table bucket by bucket (by their first byte), many to a page, a few with every commit.
 */
export class SeenEvents {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #slots: Pick<RecentCommits, 'seenIds'>;
  readonly #buckets = Array.from({ length: BUCKETS }, () => new Map<string, number>());
  readonly #key = Buffer.alloc(ID_BYTES);
  /** The ids of this commit, in their stored form. */
  #fresh = Buffer.alloc(64 * ENTRY_BYTES);
  #freshCount = 0;
  #recent = 0;
  #tableEmpty = true;
  #loaded = false;
  #nextBucket = 0;
  /** Rows of `seen_recent` up to this one are in the table when the round over the buckets ends. */
  #roundUpTo = 0;

  constructor(db: Database.Database, recent: Pick<RecentCommits, 'seenIds'>) {
    this.#statements = prepare(db);
    this.#slots = recent;
    this.#load();
  }

  /** A commit failed, so its ids are not in the file. They are read again before the next check. */
  rolledBack(): void {
    this.#loaded = false;
  }

  #load(): void {
    for (const bucket of this.#buckets) bucket.clear();
    this.#recent = 0;
    this.#freshCount = 0;
    this.#nextBucket = 0;
    for (const ids of this.#statements.recent.iterate()) this.#loadIds(ids);
    for (const ids of this.#slots.seenIds()) this.#loadIds(Buffer.from(ids));
    this.#recent = this.#buckets.reduce((sum, { size }) => sum + size, 0);
    this.#tableEmpty = this.#statements.any.get() === undefined;
    this.#loaded = true;
  }

  #loadIds(ids: Buffer): void {
    for (let at = 0; at + ENTRY_BYTES <= ids.length; at += ENTRY_BYTES) {
      const key = ids.toString('latin1', at, at + ID_BYTES);
      this.#bucket(ids[at] ?? 0).set(key, ids.readDoubleLE(at + ID_BYTES));
    }
  }

  /** Looks up an event by its encoded content, and remembers it when it is FRESH. */
  check(record: Buffer): typeof FRESH | typeof SAME | typeof OTHER {
    if (!this.#loaded) this.#load();
    this.#readKey(record);
    const key = this.#key.toString('latin1');
    // 48 bits: with a probability of 10^-14 a changed event would count as repeated, and the change would be dropped.
    const content = Number.parseInt(hash('sha256', record, 'hex').slice(0, 12), 16);
    const bucket = this.#bucket(this.#key[0] ?? 0);
    const known = bucket.get(key) ?? (this.#tableEmpty ? undefined : this.#statements.find.get(this.#key));
    if (known !== undefined) return known === content ? SAME : OTHER;
    bucket.set(key, content);
    this.#recent += 1;
    this.#remember(content);
    return FRESH;
  }

  /** Forgets the ids remembered since the last save: what they were remembered for is not written. */
  forgetFresh(): void {
    for (let at = 0; at < this.#freshCount * ENTRY_BYTES; at += ENTRY_BYTES) {
      this.#bucket(this.#fresh[at] ?? 0).delete(this.#fresh.toString('latin1', at, at + ID_BYTES));
    }
    this.#recent -= this.#freshCount;
    this.#freshCount = 0;
  }

  /** Returns the ids remembered since the last call, for the commit's slot: a view, valid until the next check. */
  takeFresh(): Uint8Array {
    const fresh = this.#fresh.subarray(0, this.#freshCount * ENTRY_BYTES);
    this.#freshCount = 0;
    return fresh;
  }

  /** Moves about as many ids to the table as the commit has fresh ones. */
  moveOn(fresh: Uint8Array, at: number): void {
    const pace = (2 * fresh.length) / ENTRY_BYTES;
    for (let moved = 0; this.#recent > RECENT_MAX && moved < pace; ) moved += this.#moveBucket(at);
  }

  #moveBucket(at: number): number {
    if (this.#nextBucket === 0) this.#roundUpTo = this.#statements.recentLast.get() ?? 0;
    const bucket = this.#bucket(this.#nextBucket);
    const seenAt = Math.floor(at);
    for (const key of [...bucket.keys()].sort()) {
      this.#statements.insert.run(Buffer.from(key, 'latin1'), bucket.get(key), seenAt);
    }
    const moved = bucket.size;
    bucket.clear();
    this.#recent -= moved;
    this.#tableEmpty = false;
    this.#nextBucket = (this.#nextBucket + 1) % BUCKETS;
    if (this.#nextBucket === 0) this.#statements.recentDelete.run(this.#roundUpTo);
    return moved;
  }

  #bucket(first: number): Map<string, number> {
    return this.#buckets[first] as Map<string, number>;
  }

  #remember(content: number): void {
    const at = this.#freshCount * ENTRY_BYTES;
    if (at + ENTRY_BYTES > this.#fresh.length) {
      this.#fresh = Buffer.concat([this.#fresh, Buffer.alloc(this.#fresh.length)]);
    }
    this.#key.copy(this.#fresh, at);
    this.#fresh.writeDoubleLE(content, at + ID_BYTES);
    this.#freshCount += 1;
  }

  /**
   * Reads the key. The event id is the record's first field: a length, then text. A UUID is its own key; others are
   * hashed.
   */
  #readKey(record: Buffer): void {
    // Avro writes a length as a zigzag varint: 36 is the single byte 72.
    if (record[0] === UUID_TEXT_LENGTH * 2 && this.#readUuid(record)) return;
    let length = 0;
    let position = 0;
    for (let byte = 0x80, unit = 1; byte & 0x80; unit *= 128) {
      byte = record[position++] ?? 0;
      length += (byte & 0x7f) * unit;
    }
    hash('sha256', record.subarray(position, position + length / 2), 'buffer').copy(
      this.#key,
      0,
      0,
      ID_BYTES,
    );
  }

  #readUuid(record: Buffer): boolean {
    const id = packId(record.toString('latin1', 1, 1 + UUID_TEXT_LENGTH));
    if (typeof id === 'string') return false;
    // Rotated so that a byte that is random in every version of UUID comes first and spreads them over the buckets.
    id.copy(this.#key, 0, RANDOM_BYTE);
    id.copy(this.#key, ID_BYTES - RANDOM_BYTE, 0, RANDOM_BYTE);
    return true;
  }
}

function prepare(db: Database.Database) {
  return {
    recent: db.prepare<[], Buffer>('SELECT ids FROM seen_recent ORDER BY id').pluck(),
    recentLast: db.prepare<[], number>('SELECT max(id) FROM seen_recent').pluck(),
    recentDelete: db.prepare('DELETE FROM seen_recent WHERE id <= ?'),
    any: db.prepare('SELECT 1 FROM seen_event LIMIT 1').pluck(),
    find: db.prepare<[Buffer], number>('SELECT hash FROM seen_event WHERE event_id = ?').pluck(),
    insert: db.prepare('INSERT INTO seen_event VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
  };
}
