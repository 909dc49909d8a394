import {
  entityKindsOf,
  fieldsOf,
  isShown,
  SUB_TYPES,
  subTypesOf,
} from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { API_VERSIONS, type ApiVersion } from '../../services/domain/endpoint.ts';
import type { EventType } from '../../services/domain/event.ts';

export type Json = { [name: string]: unknown };

/** Returns the name of the schema of one kind of body, for example `KYC.FULL_USER.2.3.8`. */
export function bodyName(type: EventType, subType: string, version: ApiVersion): string {
  return `${type}.${subType}.${version}`;
}

/** Returns every subType of a type with each version that has it, grouped by subType, newest version first. */
export function sortsOf(type: EventType): { readonly subType: string; readonly version: ApiVersion }[] {
  const newestFirst = [...API_VERSIONS].reverse();
  return SUB_TYPES[type].flatMap((subType) =>
    newestFirst
      .filter((version) => subTypesOf(type, version).includes(subType))
      .map((version) => ({ subType, version })),
  );
}

/** Returns the values that a field may have for a subType, under their names in the version; undefined = any text. */
export function knownValues(
  field: Field,
  subType: string,
  version: ApiVersion,
): readonly string[] | undefined {
  if (field.constant !== undefined) return [field.constant];
  const values = field.valuesOn?.[subType] ?? field.values;
  const renamed = field.renamed?.[version] ?? {};
  return values?.map((value) => renamed[value] ?? value);
}

/** The schemas of the envelope's uuid: one for each choice of entities that a type may concern. */
export const ENTITY_SCHEMAS = {
  EntityUuid: {
    description: 'The user or corporate that the event concerns.',
    type: 'string',
    format: 'uuid',
  },
  UserUuid: { description: 'The user that the event concerns.', type: 'string', format: 'uuid' },
  CorporateUuid: { description: 'The corporate that the event concerns.', type: 'string', format: 'uuid' },
} as const;

function entitySchemaOf(type: EventType): keyof typeof ENTITY_SCHEMAS {
  const kinds = entityKindsOf(type);
  if (kinds.length > 1) return 'EntityUuid';
  return kinds.includes('USER') ? 'UserUuid' : 'CorporateUuid';
}

/** Schemas by name, for objects inside `data`, which are the same for all subTypes. */
export type SharedSchemas = Map<string, Json>;

/** Creates the schema of one kind of body from the presence table. Adds the schemas of inner objects to `shared`. */
export function bodySchema(
  type: EventType,
  { subType, version }: { readonly subType: string; readonly version: ApiVersion },
  shared: SharedSchemas,
): Json {
  const fields = fieldsOf(type).filter((field) => isShown(field, subType, version));
  return {
    title: `${type} ${subType}, version ${version}`,
    type: 'object',
    required: ['type', 'subType', 'uuid', 'data'],
    properties: {
      type: { type: 'string', const: type },
      subType: { type: 'string', const: subType },
      uuid: ref(entitySchemaOf(type)),
      data: objectSchema(fields, (field) => fieldSchema(field, subType, version, shared)),
    },
  };
}

/** Returns the schema of any body of a type: one of the described subTypes, or a subType added later. */
export function anyBodySchema(type: EventType): Json {
  return {
    description: `Every body of type ${type}. Fields and subTypes may be added.`,
    anyOf: [
      ...sortsOf(type).map(({ subType, version }) => ref(bodyName(type, subType, version))),
      {
        title: 'A subType added later',
        description: 'Acknowledge and ignore a subType that you do not know.',
        type: 'object',
        required: ['type', 'subType', 'uuid', 'data'],
        properties: {
          type: { type: 'string', const: type },
          subType: { type: 'string', not: { enum: SUB_TYPES[type] } },
          uuid: ref(entitySchemaOf(type)),
          data: { type: 'object' },
        },
      },
    ],
  };
}

function objectSchema(fields: readonly Field[], describe: (field: Field) => Json): Json {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    required,
    properties: Object.fromEntries(fields.map((field) => [field.name, describe(field)])),
  };
}

function fieldSchema(field: Field, subType: string, version: ApiVersion, shared: SharedSchemas): Json {
  const description = field.entitlement
    ? `${field.description} Only to merchants with the entitlement ${field.entitlement}.`
    : field.description;
  if (field.nullOn?.includes(subType)) return { description, type: 'null' };
  const values = knownValues(field, subType, version);
  const known = values === undefined ? {} : { 'x-known-values': values };
  const inner = () => innerSchema(field, version, shared);
  switch (field.kind) {
    case 'string':
      return { description, type: 'string', ...known };
    case 'uuid':
      return { description, type: 'string', format: 'uuid' };
    case 'timestamp':
      return { description, type: 'string', format: 'date-time' };
    case 'decimal':
      return { description, type: 'number' };
    case 'integer':
    case 'boolean':
      return { description, type: field.kind };
    case 'object':
      return { description, ...inner() };
    case 'array':
      return { description, type: 'array', items: field.fields ? inner() : { type: 'string', ...known } };
  }
}

/** The fields of an object are the same for every subType and version, so they are described once, by the field's name. */
function innerSchema(field: Field, version: ApiVersion, shared: SharedSchemas): Json {
  const name = `data.${field.name}`;
  const schema = objectSchema(field.fields ?? [], (inner) => fieldSchema(inner, '', version, shared));
  const before = shared.get(name);
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema)) {
    throw new Error(
      `two fields named ${field.name} contain different objects: their schemas need different names`,
    );
  }
  shared.set(name, schema);
  return ref(name);
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}
