/**
 * The schema that a producer wrote with, as Avro types. Only what reading needs is taken from it: names, fields, symbols,
 * sizes and logical types. Defaults, aliases and documentation belong to readers, so a fault in them refuses no record.
 */
import avro, { type Type } from 'avsc';

/** A schema as the registry returned it. */
export class RegisteredSchema {
  readonly text: string;
  /** The schemas that it refers to by name, each after those that it needs itself. */
  readonly references: readonly string[];
  /** The registry's name of the format: `AVRO`, `PROTOBUF`, `JSON`. */
  readonly format: string;
  /** Why it cannot be used, if that was seen when it was fetched. */
  readonly fault: string | undefined;

  constructor(text: string, references: readonly string[] = [], format = 'AVRO', fault?: string) {
    this.text = text;
    this.references = references;
    this.format = format;
    this.fault = fault;
  }
}

/** The attributes that a logical type adds to the type that is written. */
export interface LogicalKind {
  readonly name: string;
  readonly scale?: unknown;
}

/** A writer's types. None of them reads by itself: services/codec/written/resolution.ts does, and bounds the work. */
export interface WrittenSchema {
  readonly root: Type;
  /** One text for all schemas that are read alike. */
  readonly canonical: string;
  /** The logical type of a type, if the schema names one. */
  readonly logicalOf: (type: Type) => LogicalKind | undefined;
}

/** Characters of a schema and its references, as registered, and of what is left of them: a new schema takes time once. */
export const TEXT_CHARACTERS_MAX = 1024 * 1024;
const PLAIN_CHARACTERS_MAX = 64 * 1024;
const DEPTH_MAX = 100;
const PRIMITIVES: readonly unknown[] = [
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
];

/** Parses a schema: the registry's, or JSON as text or parsed. Throws with one line when it is no Avro schema. */
export function writtenSchema(schema: unknown): WrittenSchema {
  if (schema instanceof RegisteredSchema && schema.fault !== undefined) throw new TypeError(schema.fault);
  const parts = schema instanceof RegisteredSchema ? [...schema.references, schema.text] : [schema];
  bound(parts, TEXT_CHARACTERS_MAX);
  const plain = parts.map((part) => plainSchema(typeof part === 'string' ? parsed(part) : part, '', 0));
  const canonical = JSON.stringify(plain);
  bound([canonical], PLAIN_CHARACTERS_MAX, ' without documentation and defaults');
  const logical = new WeakMap<Type, LogicalKind>();
  const options = {
    registry: {},
    // Branches of one kind, such as two records, are told apart by their index.
    wrapUnions: 'always',
    omitRecordMethods: true,
    typeHook: (part: unknown, hooked: object): Type | undefined => {
      const { logicalType: name, scale, ...bare } = Object(part);
      if (name === undefined) return undefined;
      const type = avro.Type.forSchema(bare, hooked);
      logical.set(type, { name, scale });
      return type;
    },
  } as const;
  const types = plain.map((part) => avro.Type.forSchema(part as avro.Schema, options));
  return {
    root: types.at(-1) as Type,
    canonical,
    logicalOf: (type) => logical.get(type),
  };
}

function bound(parts: readonly unknown[], most: number, what = ''): void {
  const texts = parts.filter((part) => typeof part === 'string');
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (characters <= most) return;
  throw new TypeError(
    `it has ${characters} characters${what}, references included: at most ${most} are read`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError('it is not JSON');
  }
}

type Part = { readonly [attribute: string]: unknown };

/** Returns the schema with full names and without what reading does not need. */
function plainSchema(schema: unknown, namespace: string, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new TypeError(`it is nested deeper than ${DEPTH_MAX} levels`);
  if (typeof schema === 'string') return PRIMITIVES.includes(schema) ? schema : fullName(schema, namespace);
  const inner = (part: unknown, within = namespace) => plainSchema(part, within, depth + 1);
  if (Array.isArray(schema)) return schema.map((branch) => inner(branch));
  if (typeof schema !== 'object' || schema === null) throw new TypeError('a part of it is no Avro schema');
  const part = schema as Part;
  switch (part.type) {
    case 'record':
    case 'error':
      return plainRecord(part, namespace, inner);
    case 'enum':
      return { type: 'enum', name: nameOf(part, namespace), symbols: symbolsOf(part.symbols) };
    case 'fixed':
      return { type: 'fixed', name: nameOf(part, namespace), size: part.size, ...logicalIn(part) };
    case 'array':
      return { type: 'array', items: inner(part.items) };
    case 'map':
      return { type: 'map', values: inner(part.values) };
    default:
      if (!PRIMITIVES.includes(part.type) || part.logicalType === undefined) return inner(part.type);
      return { type: part.type, ...logicalIn(part) };
  }
}

function plainRecord(
  part: Part,
  namespace: string,
  inner: (part: unknown, within: string) => unknown,
): object {
  const name = nameOf(part, namespace);
  if (!Array.isArray(part.fields)) throw new TypeError(`the record ${String(name)} has no list of fields`);
  const within = typeof name === 'string' && name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '';
  const fields = part.fields.map((field: Part) => ({
    name: valid(field.name),
    type: inner(field.type, within),
  }));
  return { type: 'record', name, fields };
}

function logicalIn({ logicalType, scale }: Part): object {
  return typeof logicalType === 'string' ? { logicalType, scale } : {};
}

function symbolsOf(symbols: unknown): unknown {
  return Array.isArray(symbols) ? symbols.map(valid) : symbols;
}

function nameOf({ name, namespace }: Part, enclosing: string): unknown {
  return typeof name === 'string'
    ? fullName(name, typeof namespace === 'string' ? namespace : enclosing)
    : name;
}

function fullName(name: string, namespace: string): unknown {
  return valid(name.includes('.') || namespace === '' ? name : `${namespace}.${name}`);
}

/** Some writers check no names, or no namespaces (`com.my-company`): hookrail's own names are valid, others need not be. */
function valid(name: unknown): unknown {
  if (typeof name !== 'string') return name;
  return name.replaceAll(/[^A-Za-z0-9_.]/g, '_').replaceAll(/(^|\.)(?=\d)/g, '$1_');
}
