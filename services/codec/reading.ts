import type avro from 'avsc';
import type { Type } from 'avsc';

/** Items of one array or map; more is a broken or hostile record. */
export const ITEMS_MAX = 10_000;

/** Values of one record, with those that are skipped: a schema can describe many that take no bytes. */
const VALUES_MAX = 200_000;
const DEPTH_MAX = 100;

/** The part of avsc's reading position that reading needs; its typings omit it. */
export interface Tap {
  pos: number;
  isValid(): boolean;
  readLong(): number;
  skipLong(): void;
  skipString(): void;
}

/** A type's own reader, which avsc's typings omit. */
export interface Readable {
  _read(tap: Tap): unknown;
  _skip(tap: Tap): void;
}

/** One record that is being read: its bytes, the place reached, and how many more values it may have. */
export class Reading {
  readonly tap: Tap;
  /** The pointer of the field that is being read, with `*` for each index in `items`. */
  at = '';
  /** The indexes of the items that are being read, from the outermost. */
  readonly items: number[] = [];
  #left = VALUES_MAX;

  constructor(tap: Tap) {
    this.tap = tap;
  }

  /** RFC 6901. */
  get pointer(): string {
    let depth = 0;
    return this.at.replaceAll('*', () => `${this.items[depth++] ?? 0}`);
  }

  /** Throws when the record has too many values. */
  spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw new RangeError(`the record has more than ${VALUES_MAX} values`);
  }

  /** Returns the number of items in the next block of an array or map, 0 = the end. `seen`: the items before it. */
  block(seen: number): number {
    const count = this.tap.readLong();
    // A negative count is followed by the block's size in bytes.
    if (count < 0) this.tap.skipLong();
    const items = Math.abs(count);
    // The count may be no number at all: avsc reads a long of any length.
    if (!(seen + items <= ITEMS_MAX))
      throw new RangeError(`an array or map has more than ${ITEMS_MAX} items`);
    this.spend(items);
    return items;
  }

  /** Returns the branch of a union that was written. */
  branchOf(union: Type): number {
    const { types } = union as avro.types.WrappedUnionType;
    const index = this.tap.readLong();
    if (types[index] !== undefined) return index;
    throw new RangeError(`a union of ${types.length} branches has no branch ${index}`);
  }
}

/** Passes over a value that nobody needs. Throws when it is nested too deep, has too many values, or is malformed. */
export function skip(reading: Reading, type: Type, depth = 0): void {
  if (depth > DEPTH_MAX) throw new RangeError(`a value is nested deeper than ${DEPTH_MAX} levels`);
  switch (type.typeName) {
    case 'record': {
      const { fields } = type as avro.types.RecordType;
      reading.spend(fields.length);
      for (const field of fields) skip(reading, field.type, depth + 1);
      return;
    }
    case 'union:wrapped': {
      const { types } = type as avro.types.WrappedUnionType;
      skip(reading, types[reading.branchOf(type)] as Type, depth + 1);
      return;
    }
    case 'array':
      skipItems(reading, (type as avro.types.ArrayType).itemsType, false, depth);
      return;
    case 'map':
      skipItems(reading, (type as avro.types.MapType).valuesType, true, depth);
      return;
    default:
      (type as unknown as Readable)._skip(reading.tap);
  }
}

function skipItems(reading: Reading, type: Type, isMap: boolean, depth: number): void {
  let seen = 0;
  for (let count = reading.block(seen); count > 0; count = reading.block(seen)) {
    seen += count;
    for (let left = count; left > 0; left -= 1) {
      if (isMap) reading.tap.skipString();
      skip(reading, type, depth + 1);
    }
  }
}
