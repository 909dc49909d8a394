/**
 * Reads what a producer wrote as hookrail's own record, by Avro's rules (Avro 1.12, "Schema Resolution"). avsc's
 * resolvers judge schemas as a whole: a union with one branch that the reader lacks is refused although another was
 * written. Here each value is judged as it comes, so a schema is refused only for what a record uses of it.
 */
import type avro from 'avsc';
import type { Type } from 'avsc';
import { Decimal, decimalText, NotRepresentable, TimestampMillis } from '../logical-types.ts';
import { type Readable, Reading, skip, type Tap } from '../reading.ts';
import type { WrittenSchema } from './written-schema.ts';
import { writtenName } from './written-type-name.ts';

type Read = (reading: Reading) => unknown;
export type Resolver = ReturnType<Type['createResolver']>;

/** Types that a value of another type is read as, besides its own. */
const PROMOTIONS: Readonly<Record<string, readonly string[]>> = {
  int: ['long', 'float', 'double'],
  long: ['float', 'double'],
  float: ['double'],
  string: ['bytes'],
  bytes: ['string'],
};

/** A finer scale or a coarser one is exact; a larger one only costs memory. */
const SCALE_MAX = 1_000;

/**
 * Returns a resolver for `own.decode`. Reading throws NotRepresentable, which names the field, for a value that Avro
 * cannot read as ours; any other error means that the bytes do not fit the writer's schema.
 */
export function resolverOf(own: Type, written: WrittenSchema): Resolver {
  const read = new Resolution(written).read(written.root, own, '');
  return asResolver(own, (tap) => {
    const reading = new Reading(tap);
    try {
      return read(reading);
    } catch (error) {
      // What was read past the end is no value: decode reports that the record is cut short.
      if (!tap.isValid()) return undefined;
      throw located(error, reading.pointer);
    }
  });
}

/** Fits a function into avsc's `decode`, which makes the position and checks the end. */
export function asResolver(own: Type, read: (tap: Tap) => unknown): Resolver {
  return { _readerType: own, _read: read } as unknown as Resolver;
}

function located(error: unknown, pointer: string): unknown {
  if (!(error instanceof Error)) return error;
  error.message = `${pointer === '' ? 'the record' : pointer} ${error instanceof NotRepresentable ? '' : 'cannot be read: '}${error.message}`;
  return error;
}

/** Compiles pairs of types, the writer's and ours, to functions that read the one as the other. */
class Resolution {
  readonly #written: WrittenSchema;

  constructor(written: WrittenSchema) {
    this.#written = written;
  }

  /** `at`: the pointer of the value, as in `Reading.at`. */
  read(writer: Type, own: Type, at: string): Read {
    if (writer.typeName === 'union:wrapped')
      return this.#union(writer as avro.types.WrappedUnionType, own, at);
    if (own.typeName === 'union:unwrapped')
      return this.#oneOf(writer, own as avro.types.UnwrappedUnionType, at);
    if (own instanceof Decimal) return this.#decimal(writer, own);
    if (own instanceof TimestampMillis) return this.#time(writer);
    if (writer.typeName !== own.typeName) return this.#promoted(writer, own);
    switch (own.typeName) {
      case 'record':
        return this.#record(writer as avro.types.RecordType, own as avro.types.RecordType, at);
      case 'array':
        return this.#array(writer as avro.types.ArrayType, own as avro.types.ArrayType, at);
      case 'enum':
        return this.#enum(writer as avro.types.EnumType, own as avro.types.EnumType);
      default:
        return ownRead(writer);
    }
  }

  /** The written branch decides; branches that no record uses are not even looked at. */
  #union(writer: avro.types.WrappedUnionType, own: Type, at: string): Read {
    const reads: Read[] = [];
    return (reading) => {
      const branch = reading.branchOf(writer);
      reads[branch] ??= this.read(writer.types[branch] as Type, own, at);
      return (reads[branch] as Read)(reading);
    };
  }

  #oneOf(writer: Type, own: avro.types.UnwrappedUnionType, at: string): Read {
    const branches = own.types.filter(({ typeName }) => typeName !== 'null');
    const matching = own.types.find((branch) => matches(writer, branch));
    // With one branch to choose from, its own refusal says more.
    const chosen =
      matching ?? (writer.typeName !== 'null' && branches.length === 1 ? branches[0] : undefined);
    if (chosen !== undefined) return this.read(writer, chosen, at);
    return this.#refusal(writer, own.types.map((branch) => this.#nameOf(branch)).join(' or '));
  }

  #record(writer: avro.types.RecordType, own: avro.types.RecordType, at: string): Read {
    if (!hasName(own, writer)) return this.#refusal(writer, `the record ${unqualified(own.name ?? '')}`);
    const ownFields = new Map(
      own.fields.flatMap((field) => [field.name, ...field.aliases].map((name) => [name, field])),
    );
    const steps = writer.fields.map(({ name, type }) => {
      const field = ownFields.get(name);
      const pointer = `${at}/${name}`;
      const read = field && this.read(type, field.type, pointer);
      return { pointer, name: field?.name ?? name, read, type };
    });
    const given = new Set(steps.filter(({ read }) => read !== undefined).map(({ name }) => name));
    const absent = own.fields.filter(({ name }) => !given.has(name));
    const required = absent.find((field) => field.defaultValue() === undefined);
    if (required !== undefined) return lacking(`${at}/${required.name}`);
    return (reading) => {
      const record: Record<string, unknown> = {};
      reading.spend(steps.length);
      for (const { pointer, name, read, type } of steps) {
        reading.at = pointer;
        if (read === undefined) skip(reading, type);
        else record[name] = read(reading);
      }
      for (const field of absent) record[field.name] = field.defaultValue();
      return record;
    };
  }

  #array(writer: avro.types.ArrayType, own: avro.types.ArrayType, at: string): Read {
    const pointer = `${at}/*`;
    const read = this.read(writer.itemsType, own.itemsType, pointer);
    return (reading) => {
      const items: unknown[] = [];
      const depth = reading.items.push(0) - 1;
      for (let count = reading.block(0); count > 0; count = reading.block(items.length)) {
        for (let left = count; left > 0; left -= 1) {
          reading.at = pointer;
          reading.items[depth] = items.length;
          items.push(read(reading));
        }
      }
      reading.items.pop();
      return items;
    };
  }

  #enum(writer: avro.types.EnumType, own: avro.types.EnumType): Read {
    const expected = own.symbols.join(' or ');
    if (!hasName(own, writer)) return this.#refusal(writer, `the enum ${unqualified(own.name ?? '')}`);
    // avsc has the attribute; its typings omit it.
    const { default: otherwise } = own as { readonly default?: string };
    const read = ownRead(writer);
    return (reading) => {
      const symbol = read(reading) as string;
      if (own.symbols.includes(symbol)) return symbol;
      if (otherwise !== undefined) return otherwise;
      throw new NotRepresentable(`is the symbol ${symbol}: must be ${expected}`);
    };
  }

  #promoted(writer: Type, own: Type): Read {
    if (!isPromoted(writer, own)) return this.#refusal(writer, this.#nameOf(own));
    const read = ownRead(writer);
    if (own.typeName === 'string')
      return (reading) => (read(reading) as Buffer | undefined)?.toString('utf8');
    if (own.typeName === 'bytes')
      return (reading) => Buffer.from((read(reading) as string | undefined) ?? '');
    return read;
  }

  #decimal(writer: Type, own: Decimal): Read {
    const logical = this.#written.logicalOf(writer);
    if (logical?.name !== 'decimal' || !['bytes', 'fixed'].includes(writer.typeName)) {
      return this.#refusal(writer, 'an amount: bytes with the logical type decimal');
    }
    const scale = logical.scale ?? 0;
    if (!Number.isInteger(scale) || (scale as number) < 0 || (scale as number) > SCALE_MAX) {
      return refusing(`is a decimal of scale ${String(scale)}: must be of scale 0 to ${SCALE_MAX}`);
    }
    const read = ownRead(writer);
    return (reading) => {
      const text = decimalText(read(reading) as Buffer | undefined, scale as number);
      const point = text.indexOf('.');
      if (point === -1 || text.length - point - 1 <= own.scale) return text;
      throw new NotRepresentable(`is a decimal of scale ${scale}: is not exact at scale ${own.scale}`);
    };
  }

  #time(writer: Type): Read {
    const isMillis =
      writer.typeName === 'long' && this.#written.logicalOf(writer)?.name === 'timestamp-millis';
    return isMillis
      ? ownRead(writer)
      : this.#refusal(writer, 'a time: a long of timestamp-millis (milliseconds since 1970, UTC)');
  }

  #nameOf(type: Type): string {
    return writtenName(type, this.#written.logicalOf(type));
  }

  #refusal(writer: Type, expected: string): Read {
    return refusing(`is ${this.#nameOf(writer)}: must be ${expected}`);
  }
}

function refusing(detail: string): Read {
  return () => {
    throw new NotRepresentable(detail);
  };
}

function lacking(pointer: string): Read {
  return (reading) => {
    reading.at = pointer;
    throw new NotRepresentable(
      'is required, and the schema that the record was written with has no such field',
    );
  };
}

function ownRead(type: Type): Read {
  const readable = type as unknown as Readable;
  return (reading) => readable._read(reading.tap);
}

/** Returns whether Avro chooses this branch of ours for a value of the writer's type. */
function matches(writer: Type, branch: Type): boolean {
  if (branch instanceof Decimal) return ['bytes', 'fixed', 'string'].includes(writer.typeName);
  if (branch instanceof TimestampMillis) return ['long', 'int'].includes(writer.typeName);
  if (writer.typeName !== branch.typeName) return isPromoted(writer, branch);
  return branch.name === undefined || hasName(branch, writer);
}

function isPromoted(writer: Type, own: Type): boolean {
  return PROMOTIONS[writer.typeName]?.includes(own.typeName) ?? false;
}

/** Named types are the same by their names without namespaces; the reader's may have further names. */
function hasName(own: Type, writer: Type): boolean {
  const { aliases = [] } = own as { readonly aliases?: readonly string[] };
  return [own.name ?? '', ...aliases].some((name) => unqualified(name) === unqualified(writer.name ?? ''));
}

function unqualified(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
