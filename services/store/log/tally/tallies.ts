import type { Outcome } from '../../../domain/outcome.ts';
import { METRIC_STEP_MS } from '../../metrics.ts';
import type { LogTallies, TalliedAttempt } from '../log-rows.ts';
import { bucketOf } from './latency-buckets.ts';

/** The span of one tally, an hour, aligned to the epoch: it has twelve slots of five minutes, so that a day is few rows. */
export const TALLY_MS = 12 * METRIC_STEP_MS;

/** As they are stored: a number never changes its meaning. */
export const OUTCOME: Readonly<Record<Outcome['kind'], number>> = {
  delivered: 0,
  retry: 1,
  exhausted: 2,
  refused: 3,
};

/**
 * Attempts that are counted together: of one slot, event type, outcome and failure code (0 = none), in one bucket of
 * latency.
 */
interface Cell {
  readonly slot: number;
  readonly type: number;
  readonly outcome: number;
  readonly failureCode: number;
  readonly bucket: number;
}

/** The place of each part in the number of a cell, which has 26 bits: cells of one slot, type and result lie together. */
const BITS = { outcome: 6, failureCode: 8, type: 14, slot: 22 } as const;

/** The number of attempts by cell. */
export type Cells = Map<number, number>;

function cellOf({ slot, type, outcome, failureCode, bucket }: Cell): number {
  const result = (failureCode << BITS.failureCode) | (outcome << BITS.outcome);
  return (slot << BITS.slot) | (type << BITS.type) | result | bucket;
}

export const bucketIn = (cell: number): number => cell & 0x3f;
export const outcomeIn = (cell: number): number => (cell >> BITS.outcome) & 3;
export const failureCodeIn = (cell: number): number => (cell >> BITS.failureCode) & 0x3f;
export const typeIn = (cell: number): number => (cell >> BITS.type) & 0xff;
export const slotIn = (cell: number): number => cell >> BITS.slot;

/** Returns the beginning of the tally in which an attempt is counted: that in which it began. */
export function tallyOf(startedAt: number): number {
  return Math.floor(startedAt / TALLY_MS) * TALLY_MS;
}

/** The tally of one endpoint. */
export interface Tally {
  readonly endpoint: number;
  /** When its span began, milliseconds since the epoch. */
  readonly createdAt: number;
  readonly cells: Cells;
}

export interface EncodedTallies {
  /** When the first and the last of the tallies began, milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly bytes: Buffer;
}

/**
 * Tallies in memory. A batch of the journal adds up its attempts in them, and writes them as one value; when there are
 * enough such values, they are added up and merged into the tallies that are stored, in bulk.
 */
export class Tallies implements LogTallies {
  /** By span and endpoint. */
  readonly #tallies = new Map<number, Map<number, Cells>>();

  count({ endpoint, startedAt, durationMs, ...cell }: TalliedAttempt): void {
    const createdAt = tallyOf(startedAt);
    const slot = Math.floor((startedAt - createdAt) / METRIC_STEP_MS);
    const key = cellOf({ ...cell, slot, bucket: bucketOf(durationMs) });
    const cells = this.#cells(createdAt, endpoint);
    cells.set(key, (cells.get(key) ?? 0) + 1);
  }

  get isEmpty(): boolean {
    return this.#tallies.size === 0;
  }

  clear(): void {
    this.#tallies.clear();
  }

  /** Returns the tallies by endpoint and time. */
  get list(): readonly Tally[] {
    const list: Tally[] = [];
    for (const [createdAt, endpoints] of this.#tallies)
      for (const [endpoint, cells] of endpoints) list.push({ endpoint, createdAt, cells });
    return list.sort((one, other) => one.endpoint - other.endpoint || one.createdAt - other.createdAt);
  }

  /** Returns all tallies as `add` reads them, with the first and the last time. */
  encode(): EncodedTallies {
    const bytes: number[] = [];
    for (const [createdAt, endpoints] of this.#tallies) {
      writeNumber(bytes, createdAt / TALLY_MS);
      writeNumber(bytes, endpoints.size);
      for (const [endpoint, cells] of endpoints) {
        writeNumber(bytes, endpoint);
        writeNumber(bytes, cells.size);
        writeCells(bytes, cells);
      }
    }
    const times = [...this.#tallies.keys()];
    return {
      firstAt: Math.min(...times),
      lastAt: Math.max(...times),
      bytes: Buffer.from(bytes),
    };
  }

  /** Adds encoded tallies. `wanted`: only those of these endpoints; absent: all. */
  add(bytes: Uint8Array, wanted?: ReadonlySet<number>): void {
    const reading = new Reading(bytes);
    while (reading.hasMore) {
      const createdAt = reading.number() * TALLY_MS;
      for (let endpoints = reading.number(); endpoints > 0; endpoints -= 1) {
        const endpoint = reading.number();
        const isWanted = wanted === undefined || wanted.has(endpoint);
        const count = reading.number();
        reading.cells(count, isWanted ? addingTo(this.#cells(createdAt, endpoint)) : passOver);
      }
    }
  }

  #cells(createdAt: number, endpoint: number): Cells {
    let endpoints = this.#tallies.get(createdAt);
    if (!endpoints) {
      endpoints = new Map();
      this.#tallies.set(createdAt, endpoints);
    }
    let cells = endpoints.get(endpoint);
    if (!cells) {
      cells = new Map();
      endpoints.set(endpoint, cells);
    }
    return cells;
  }
}

/** Returns the cells of one tally as `addCells` reads them. */
export function encodeCells(cells: Cells): Buffer {
  const bytes: number[] = [];
  writeCells(bytes, cells);
  return Buffer.from(bytes);
}

/** Adds the encoded cells of a tally to cells. */
export function addCells(cells: Cells, bytes: Uint8Array): void {
  eachCell(bytes, addingTo(cells));
}

/** Visits the encoded cells of a tally. */
export function eachCell(bytes: Uint8Array, visit: VisitCell): void {
  new Reading(bytes).cells(Number.POSITIVE_INFINITY, visit);
}

/**
 * Visits tallies that an engine has put together, so that thousands come in one value: of each the number of its span
 * since the epoch and the length of its cells, four bytes each (big-endian), then its cells.
 */
export function eachTally(bytes: Uint8Array, visit: (createdAt: number, cells: Uint8Array) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const cells = at + 8;
    const end = cells + view.getUint32(at + 4);
    visit(view.getUint32(at) * TALLY_MS, bytes.subarray(cells, end));
    at = end;
  }
}

type VisitCell = (cell: number, attempts: number) => void;

function addingTo(cells: Cells): VisitCell {
  return (cell, attempts) => {
    cells.set(cell, (cells.get(cell) ?? 0) + attempts);
  };
}

function passOver(): void {}

function writeCells(into: number[], cells: Cells): void {
  let before = 0;
  for (const cell of [...cells.keys()].sort((one, other) => one - other)) {
    writeNumber(into, cell - before);
    writeNumber(into, cells.get(cell) ?? 0);
    before = cell;
  }
}

/** Writes a whole number, seven bits at a time from the lowest on. */
function writeNumber(into: number[], value: number): void {
  let left = value;
  while (left >= 0x80) {
    into.push((left % 0x80) | 0x80);
    left = Math.floor(left / 0x80);
  }
  into.push(left);
}

class Reading {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new Error('a tally ends within a number');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** Visits up to `count` cells. */
  cells(count: number, visit: VisitCell): void {
    let cell = 0;
    for (let left = count; left > 0 && this.hasMore; left -= 1) {
      cell += this.number();
      visit(cell, this.number());
    }
  }
}
