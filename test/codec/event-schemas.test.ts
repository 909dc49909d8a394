/**
 * The Avro schemas agree with the catalog, and every version of a schema can be read with every other
 * (FULL_TRANSITIVE): rolling deploys mix versions, and the longest delay outlives one.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { generateEventTypes } from '../../scripts/generate-types.ts';
import { eventSchemaText, recordNameOf } from '../../services/codec/events.ts';
import { avroType } from '../../services/codec/logical-types.ts';
import { fieldsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Described {
  readonly name: string;
  readonly kind: string;
  readonly optional: boolean;
  readonly fields?: readonly Described[];
}

// biome-ignore lint/suspicious/noExplicitAny: a schema is read as the JSON that it is.
type Json = any;

const KINDS: Readonly<Record<string, string>> = {
  decimal: 'decimal',
  uuid: 'uuid',
  'timestamp-millis': 'timestamp',
  long: 'integer',
  record: 'object',
};

/** What a schema's record says, in the catalog's words. */
function describeRecord(record: Json): readonly Described[] {
  return record.fields.map((field: Json) => {
    const isOptional = Array.isArray(field.type);
    const type = isOptional ? field.type[1] : field.type;
    if (isOptional) expect(field.default, `${field.name} must default to null`).toBeNull();
    const kind = type.logicalType ?? type.type ?? type;
    const nested = kind === 'array' ? type.items : type;
    return {
      name: field.name,
      kind: KINDS[kind] ?? kind,
      optional: isOptional,
      ...(nested.type === 'record' ? { fields: describeRecord(nested) } : {}),
    };
  });
}

/** What the catalog says: required for every subType, or optional. */
function describeCatalog(fields: readonly Field[]): readonly Described[] {
  return fields
    .filter((field) => field.constant === undefined)
    .map((field) => ({
      name: field.name,
      kind: field.kind,
      optional: !(field.required && field.on === 'all' && field.nullOn === undefined),
      ...(field.fields === undefined ? {} : { fields: describeCatalog(field.fields) }),
    }));
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** Every version of a schema: the checkout's, and git's where this is a repository. */
function versionsOf(type: EventType): readonly string[] {
  const path = `schemas/events/${type}.avsc`;
  const texts = new Set([eventSchemaText(type)]);
  let commits: readonly string[] = [];
  try {
    commits = git('log', '--format=%H', '--diff-filter=AM', '--', path).split('\n').filter(Boolean);
  } catch {
    // Without git there is only the checkout's version; CI has git.
  }
  for (const commit of commits) texts.add(`${git('show', `${commit}:${path}`)}\n`);
  return [...texts];
}

/** Why one cannot be read with the other, or nothing. */
function incompatibility(reader: string, writer: string): string | undefined {
  try {
    avroType(JSON.parse(reader)).createResolver(avroType(JSON.parse(writer)));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

describe('the event schemas', () => {
  it.each(EVENT_TYPES)('agree with the catalog for %s', (type) => {
    const schema = JSON.parse(eventSchemaText(type));
    expect(`${schema.namespace}.${schema.name}`).toBe(recordNameOf(type));
    expect(schema.fields.map((field: Json) => field.name)).toEqual(['header', 'data']);
    expect(describeRecord(schema.fields[1].type)).toEqual(describeCatalog(fieldsOf(type)));
    expect(SUB_TYPES[type].length).toBeGreaterThan(0);
  });

  it('have decimals of precision 38 and scale 18, and the same header', () => {
    const headers = new Set<string>();
    for (const type of EVENT_TYPES) {
      const text = eventSchemaText(type);
      headers.add(JSON.stringify(JSON.parse(text).fields[0].type));
      const decimals = [...text.matchAll(/\{[^{}]*"logicalType": "decimal"[^{}]*\}/g)];
      for (const [decimal] of decimals)
        expect(JSON.parse(decimal)).toMatchObject({ precision: 38, scale: 18 });
    }
    expect(headers.size).toBe(1);
  });

  it.each(EVENT_TYPES)('can be read with every other version of themselves for %s', (type) => {
    const versions = versionsOf(type);
    for (const reader of versions) {
      for (const writer of versions) expect(incompatibility(reader, writer)).toBeUndefined();
    }
  });

  it('would be found incompatible if a required field were added', () => {
    const schema = JSON.parse(eventSchemaText('KYC'));
    schema.fields[1].type.fields.push({ name: 'added', type: 'string' });
    expect(incompatibility(JSON.stringify(schema), eventSchemaText('KYC'))).toMatch(/added/);
    expect(incompatibility(eventSchemaText('KYC'), JSON.stringify(schema))).toBeUndefined();
  });
});

describe('the generated types of events', () => {
  it('match the schemas, and --check says so', () => {
    expect(generateEventTypes()).toContain('export interface EventRecords {');
    const check = ['--import', 'tsx', 'scripts/generate-types.ts', '--check'];
    expect(() => execFileSync(process.execPath, check, { cwd: ROOT, stdio: 'pipe' })).not.toThrow();
  });
});
