import type { Database } from 'better-sqlite3';
import { compressSync, uncompressSync } from 'lz4-napi';
import { ByteWriter } from '../../../codec/byte-writer.ts';
import { headerBytesOf, headersIn } from '../../../codec/view/journal-view.ts';
import type { ResponseKept } from '../../../domain/attempt.ts';
import type { EncodedTallies } from '../../log/tally/tallies.ts';
import type { TallyRows } from './tally-rows.ts';

/** The parts of an attempt that its row does not have. */
export interface AttemptContent {
  /** As the journal has them (codec/view/journal-view.ts); without a byte: there was no response. */
  readonly headers: Buffer;
  readonly body: Buffer;
  readonly isTruncated: boolean;
  readonly signature: string;
}

/** Contents by attempt. */
type Group = Map<number, AttemptContent>;

/** An attempt and the group that has its content. */
export interface AttemptPlace {
  readonly attemptId: number;
  readonly content: number;
}

/** Before each content: the attempt (f64), whether its body is truncated (u8), three lengths (u32). */
const HEADER_BYTES = 21;
const NOTHING = Buffer.alloc(0);

/** Reads the contents of attempts that are packed in groups. */
export class AttemptContentReads {
  readonly #bytes;

  constructor(db: Database) {
    this.#bytes = db.prepare('SELECT bytes FROM attempt_content WHERE seq = ?').pluck();
  }

  /** Throws when the group does not have the attempt. `group`: its group, where it was read before. */
  of({ attemptId, content }: AttemptPlace, group = this.group(content)): AttemptContent {
    const found = group.get(attemptId);
    if (!found) throw new Error(`the content of attempt ${attemptId} is not in its group ${content}`);
    return found;
  }

  group(content: number): Group {
    const bytes = this.#bytes.get(content) as Buffer | undefined;
    return bytes ? decode(uncompressSync(bytes)) : new Map();
  }
}

/** A group ends at one of these: more hardly make it smaller, and reading one attempt reads its group. */
const GROUP = 128;
const GROUP_BYTES = 64 * 1024;

/**
 * Writes contents: those of attempts recorded in one batch, a group at a time. The last group of a batch has the batch's
 * tallies too: in a table of their own they would dirty one more page in each transaction.
 */
export class AttemptContentWrites {
  readonly #tallies: TallyRows;
  readonly #reads: AttemptContentReads;
  readonly #insert;
  readonly #update;
  readonly #delete;
  /** The number of the group that is being filled. */
  #seq: number;
  #count = 0;
  readonly #open = new ByteWriter();

  constructor(db: Database, tallies: TallyRows) {
    this.#tallies = tallies;
    this.#reads = new AttemptContentReads(db);
    this.#insert = db.prepare('INSERT INTO attempt_content VALUES (?, ?, ?, ?, ?)');
    this.#update = db.prepare('UPDATE attempt_content SET bytes = ? WHERE seq = ?');
    this.#delete = db.prepare('DELETE FROM attempt_content WHERE seq = ?');
    const last = Number(db.prepare('SELECT coalesce(max(seq), 0) FROM attempt_content').pluck().get());
    this.#seq = 1 + Math.max(last, tallies.mergedTo);
  }

  /** Returns the group in which the next content will be. Writes the present one when it is full. */
  place(): number {
    if (this.#count >= GROUP || this.#open.length >= GROUP_BYTES) this.#write(null);
    return this.#seq;
  }

  add(attemptId: number, response: ResponseKept | null, keepsBody: boolean, signature: string): void {
    write(this.#open, attemptId, {
      headers: response ? headerBytesOf(response) : NOTHING,
      body: response && keepsBody ? response.body : NOTHING,
      isTruncated: response?.bodyTruncated === true,
      signature,
    });
    this.#count += 1;
  }

  /** Writes the open group, with what the batch has counted. Called before the transaction ends. */
  flush(): void {
    if (this.#count > 0) this.#write(this.#tallies.take());
  }

  #write(tallies: EncodedTallies | null): void {
    const { firstAt = null, lastAt = null, bytes = null } = tallies ?? {};
    this.#insert.run(this.#seq, firstAt, lastAt, bytes, compressSync(this.#open.written));
    this.#seq += 1;
    this.rolledBack();
  }

  /** Nothing since the last commit is in the file. */
  rolledBack(): void {
    this.#count = 0;
    this.#open.truncate(0);
  }

  /** Removes the contents of attempts. */
  remove(places: readonly AttemptPlace[]): void {
    for (const [content, attempts] of byGroup(places)) {
      const group = this.#reads.group(content);
      for (const attemptId of attempts) group.delete(attemptId);
      this.#rewrite(content, group);
    }
  }

  /** Removes the bodies of responses and leaves the rest. Returns the attempts that had one. */
  removeBodies(places: readonly AttemptPlace[]): number[] {
    const removed: number[] = [];
    for (const [content, attempts] of byGroup(places)) {
      const group = this.#reads.group(content);
      const had = attempts.filter((attemptId) => (group.get(attemptId)?.body.length ?? 0) > 0);
      for (const attemptId of had) {
        const before = group.get(attemptId);
        if (before) group.set(attemptId, { ...before, body: NOTHING });
      }
      if (had.length > 0) this.#rewrite(content, group);
      removed.push(...had);
    }
    return removed;
  }

  #rewrite(content: number, group: Group): void {
    if (group.size > 0) this.#update.run(encode(group), content);
    else {
      this.#tallies.mergeBeforeDeleting(content);
      this.#delete.run(content);
    }
  }
}

/** Returns a response's headers as JSON; null where there was none. */
export function headersText(headers: Buffer): string | null {
  return headers.length === 0 ? null : JSON.stringify(headersIn(headers));
}

function byGroup(places: readonly AttemptPlace[]): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const { attemptId, content } of places) {
    const attempts = groups.get(content);
    if (attempts) attempts.push(attemptId);
    else groups.set(content, [attemptId]);
  }
  return groups;
}

type Written = Omit<AttemptContent, 'body'> & { readonly body: Uint8Array };

function write(
  into: ByteWriter,
  attemptId: number,
  { headers, body, isTruncated, signature }: Written,
): void {
  into.f64(attemptId);
  into.u8(isTruncated ? 1 : 0);
  into.u32(headers.length);
  into.u32(body.length);
  const lengthAt = into.length;
  into.u32(0);
  into.bytes(headers);
  into.bytes(body);
  const start = into.length;
  into.text(signature);
  into.patchU32(lengthAt, into.length - start);
}

const scratch = new ByteWriter();

function encode(group: Group): Buffer {
  scratch.truncate(0);
  for (const [attemptId, content] of group) write(scratch, attemptId, content);
  return compressSync(scratch.written);
}

function decode(bytes: Buffer): Group {
  const group: Group = new Map();
  for (let at = 0; at < bytes.length; ) {
    const headersAt = at + HEADER_BYTES;
    const bodyAt = headersAt + bytes.readUInt32LE(at + 9);
    const signatureAt = bodyAt + bytes.readUInt32LE(at + 13);
    const end = signatureAt + bytes.readUInt32LE(at + 17);
    group.set(bytes.readDoubleLE(at), {
      headers: bytes.subarray(headersAt, bodyAt),
      body: bytes.subarray(bodyAt, signatureAt),
      isTruncated: bytes[at + 8] === 1,
      signature: bytes.toString('utf8', signatureAt, end),
    });
    at = end;
  }
  return group;
}
