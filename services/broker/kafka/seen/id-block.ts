import { hash } from 'node:crypto';

/** Words of an entry: three of the id's hash, the offset from the block's first one, two of the content's hash. */
const ID_WORDS = 3;
const OFFSET = ID_WORDS;
const CONTENT = ID_WORDS + 1;
const PLAIN_WORDS = ID_WORDS + 1;
const CONTENT_WORDS = ID_WORDS + 3;
/** Small enough that forgetting a block loses little, large enough that few blocks have to be searched. */
export const BLOCK_IDS_MAX = 131_072;
const OFFSET_MAX = 0xffff_ffff;

/** Four bytes each of a SHA-1 digest. A collision of 96 bits among millions of ids is not to be expected. */
export type Digest = readonly [number, number, number];

export function digestOf(text: string): Digest {
  const bytes = hash('sha1', text, 'binary');
  return [wordAt(bytes, 0), wordAt(bytes, 4), wordAt(bytes, 8)];
}

function wordAt(bytes: string, at: number): number {
  const high = (bytes.charCodeAt(at) << 8) | bytes.charCodeAt(at + 1);
  return ((high << 16) | (bytes.charCodeAt(at + 2) << 8) | bytes.charCodeAt(at + 3)) >>> 0;
}

export interface BlockOptions {
  /** A power of two, at most BLOCK_IDS_MAX. */
  readonly room: number;
  readonly hasContent: boolean;
  readonly firstOffset: number;
  /** Log time of the first entry, milliseconds. */
  readonly startedAt: number;
  /** Its number in the budget. */
  readonly number: number;
}

/**
 * Consecutive ids in a hash table with open addressing on typed arrays: 24 bytes an id, 32 with its content. Ids are
 * only added; a block is forgotten as a whole.
 */
export class IdBlock {
  readonly room: number;
  readonly firstOffset: number;
  readonly startedAt: number;
  readonly number: number;
  /** Log time of the last entry, milliseconds. */
  lastAt: number;
  count = 0;
  readonly #words: number;
  readonly #entries: Uint32Array;
  /** An entry's number plus one, or 0; at most half of the slots are used. */
  readonly #slots: Uint32Array;

  constructor({ room, hasContent, firstOffset, startedAt, number }: BlockOptions) {
    this.room = room;
    this.firstOffset = firstOffset;
    this.startedAt = startedAt;
    this.lastAt = startedAt;
    this.number = number;
    this.#words = hasContent ? CONTENT_WORDS : PLAIN_WORDS;
    this.#entries = new Uint32Array(room * this.#words);
    this.#slots = new Uint32Array(room * 2);
  }

  takes(offset: number): boolean {
    return this.count < this.room && offset - this.firstOffset <= OFFSET_MAX;
  }

  /** Returns the entry of an id; undefined when the block does not have it. */
  find([first, second, third]: Digest): number | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const held = this.#slots[slot] ?? 0;
      if (held === 0) return undefined;
      const at = (held - 1) * this.#words;
      const entries = this.#entries;
      if (entries[at] === first && entries[at + 1] === second && entries[at + 2] === third) return held - 1;
    }
  }

  /** Adds an id that the block does not have. */
  add(id: Digest, offset: number, content: Digest | null, at: number): void {
    const mask = this.#slots.length - 1;
    let slot = id[0] & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    const entry = this.count * this.#words;
    this.#entries.set(id, entry);
    this.#entries[entry + OFFSET] = offset - this.firstOffset;
    if (content) {
      this.#entries[entry + CONTENT] = content[0];
      this.#entries[entry + CONTENT + 1] = content[1];
    }
    this.count += 1;
    this.#slots[slot] = this.count;
    this.lastAt = at;
  }

  offsetOf(entry: number): number {
    return this.firstOffset + (this.#entries[entry * this.#words + OFFSET] ?? 0);
  }

  hasContent(entry: number, content: Digest): boolean {
    const at = entry * this.#words + CONTENT;
    return this.#entries[at] === content[0] && this.#entries[at + 1] === content[1];
  }
}
