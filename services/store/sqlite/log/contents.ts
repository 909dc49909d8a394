import type { Database } from 'better-sqlite3';
import { compressSync, uncompressSync } from 'lz4-napi';
import { ByteWriter } from '../../../codec/byte-writer.ts';
import type { Routed } from '../../../domain/journal.ts';
import { bodiesLength, writeBodies } from './bodies-column.ts';

/** The content of an event: its data (JSON) and its bodies (see bodies-column.ts). */
export interface Content {
  readonly data: Buffer;
  readonly bodies: Buffer;
}

/** Before each content of a group: the event's distance from the group's first (u32), and two lengths (u32). */
const HEADER_BYTES = 12;

/** Groups of contents, by the number of their first event. */
type Group = Map<number, Content>;

/** Reads the contents of events that are packed in groups. */
export class ContentReads {
  readonly #group;

  constructor(db: Database) {
    this.#group = db.prepare('SELECT seq, bytes FROM content WHERE seq <= ? ORDER BY seq DESC LIMIT 1');
  }

  /** Returns the event's content, undefined when no group has it. */
  of(event: number): Content | undefined {
    return this.groupOf(event)?.contents.get(event);
  }

  /** Returns the group in which the event is, if any group has it. */
  groupOf(event: number): { readonly seq: number; readonly contents: Group } | undefined {
    const row = this.#group.get(event) as { readonly seq: number; readonly bytes: Buffer } | undefined;
    return row && { seq: row.seq, contents: decode(row.seq, uncompressSync(row.bytes)) };
  }
}

/** Events in a group: more hardly make it smaller, and reading one event reads its group. */
const GROUP = 32;

/** Writes contents: those of events recorded in one batch, a group at a time. */
export class ContentWrites {
  readonly #reads: ContentReads;
  readonly #insert;
  readonly #update;
  readonly #delete;
  /** The group that is being filled: its first event, how many it has, and its bytes. */
  #first: number | undefined;
  #count = 0;
  readonly #open = new ByteWriter();

  constructor(db: Database) {
    this.#reads = new ContentReads(db);
    this.#insert = db.prepare('INSERT INTO content VALUES (?, ?)');
    this.#update = db.prepare('UPDATE content SET bytes = ? WHERE seq = ?');
    this.#delete = db.prepare('DELETE FROM content WHERE seq = ?');
  }

  /** Adds the content of a new event, whose number is higher than all before. */
  add(event: number, data: Uint8Array, bodies: Routed['bodies']): void {
    this.#first ??= event;
    writeContent(this.#open, event - this.#first, data, bodies);
    this.#count += 1;
    if (this.#count >= GROUP) this.flush();
  }

  /** Writes the open group. Called before the transaction ends. */
  flush(): void {
    if (this.#first !== undefined) this.#insert.run(this.#first, compressSync(this.#open.written));
    this.rolledBack();
  }

  /** Nothing since the last commit is in the file. */
  rolledBack(): void {
    this.#first = undefined;
    this.#count = 0;
    this.#open.truncate(0);
  }

  of(event: number): Content | undefined {
    // What it returns refers to these bytes, which the next event overwrites.
    const isOpen = this.#first !== undefined && event >= this.#first;
    return isOpen
      ? decode(this.#first ?? 0, Buffer.from(this.#open.written)).get(event)
      : this.#reads.of(event);
  }

  /** Removes the contents of events, each group's together. */
  remove(events: readonly number[]): void {
    this.flush();
    const left = new Set(events);
    for (const event of left) {
      const group = this.#reads.groupOf(event);
      if (!group?.contents.has(event)) continue;
      for (const each of group.contents.keys()) if (left.has(each)) group.contents.delete(each);
      if (group.contents.size === 0) this.#delete.run(group.seq);
      else this.#update.run(encode(group.seq, group.contents), group.seq);
    }
  }
}

/** Appends an event's content to its group. */
function writeContent(group: ByteWriter, distance: number, data: Uint8Array, bodies: Routed['bodies']): void {
  group.u32(distance);
  group.u32(data.length);
  group.u32(bodiesLength(bodies));
  group.bytes(data);
  writeBodies(bodies, group);
}

const scratch = new ByteWriter();

function encode(first: number, group: Group): Buffer {
  scratch.truncate(0);
  for (const [event, { data, bodies }] of group) {
    scratch.u32(event - first);
    scratch.u32(data.length);
    scratch.u32(bodies.length);
    scratch.bytes(data);
    scratch.bytes(bodies);
  }
  return compressSync(scratch.written);
}

function decode(first: number, bytes: Buffer): Group {
  const group: Group = new Map();
  for (let at = 0; at < bytes.length; ) {
    const start = at + HEADER_BYTES;
    const between = start + bytes.readUInt32LE(at + 4);
    const end = between + bytes.readUInt32LE(at + 8);
    const content = { data: bytes.subarray(start, between), bodies: bytes.subarray(between, end) };
    group.set(first + bytes.readUInt32LE(at), content);
    at = end;
  }
  return group;
}
