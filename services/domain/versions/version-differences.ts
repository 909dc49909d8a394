/**
 * Lists what two versions of the API write differently, from the presence table: types, subTypes, fields, and the names
 * of values. The guide for moving to the newer one prints it.
 */
import { fieldsOf, isShown, SUB_TYPES, subTypesOf, typesOf } from '../catalog/catalog.ts';
import type { Field } from '../catalog/field.ts';
import type { ApiVersion } from '../endpoint.ts';
import { EVENT_TYPES, type EventType } from '../event.ts';

/** A type of which one version has fewer subTypes than the other, or none. */
export interface TypeDifference {
  readonly type: EventType;
  readonly older: readonly string[];
  readonly newer: readonly string[];
}

/** A field that only one of the versions has, or whose values have other names. */
export interface FieldDifference {
  readonly type: EventType;
  /** Such as `data.senderDetails.senderName`; `[]` stands for each element of a list. */
  readonly path: string;
  readonly field: Field;
  /** The subTypes of the version that has the field on which it is shown. */
  readonly on: readonly string[];
  /** The version that does not have the field; undefined: both have it, and name its values differently. */
  readonly missingIn?: ApiVersion;
  /** The older version's name of each value that has another one in the newer version. */
  readonly renamed?: Readonly<Record<string, string>>;
}

export function typeDifferences(older: ApiVersion, newer: ApiVersion): readonly TypeDifference[] {
  return EVENT_TYPES.map((type) => ({
    type,
    older: subTypesOf(type, older),
    newer: subTypesOf(type, newer),
  })).filter((each) => each.older.join() !== each.newer.join());
}

/** The differences within types that both versions have. */
export function fieldDifferences(older: ApiVersion, newer: ApiVersion): readonly FieldDifference[] {
  return typesOf(older)
    .filter((type) => typesOf(newer).includes(type))
    .flatMap((type) => fieldsOf(type).flatMap((field) => within(type, 'data', field, [older, newer])));
}

function within(
  type: EventType,
  parent: string,
  field: Field,
  versions: readonly [ApiVersion, ApiVersion],
): FieldDifference[] {
  const [older, newer] = versions;
  const path = `${parent}.${field.name}`;
  const missingIn = versions.find((version) => !field.versions.includes(version));
  if (missingIn !== undefined) {
    const present = versions.find((version) => field.versions.includes(version));
    if (present === undefined) return [];
    const on = SUB_TYPES[type].filter((subType) => isShown(field, subType, present));
    return allOf(field, path).map((each) => ({ type, ...each, on, missingIn }));
  }
  const names = renamedIn(field, older, newer);
  const on = subTypesOf(type, newer).filter((subType) => isShown(field, subType, newer));
  const step = field.kind === 'array' ? `${path}[]` : path;
  return [
    ...(names === undefined ? [] : [{ type, path, field, on, renamed: names }]),
    ...(field.fields ?? []).flatMap((inner) => within(type, step, inner, versions)),
  ];
}

/** Returns a field, or where it has fields of its own each of these. */
function allOf(field: Field, path: string): { readonly path: string; readonly field: Field }[] {
  if (field.fields === undefined) return [{ path, field }];
  const step = field.kind === 'array' ? `${path}[]` : path;
  return field.fields.flatMap((inner) => {
    const entitlement = inner.entitlement ?? field.entitlement;
    return allOf({ ...inner, ...(entitlement && { entitlement }) }, `${step}.${inner.name}`);
  });
}

function renamedIn(
  field: Field,
  older: ApiVersion,
  newer: ApiVersion,
): Readonly<Record<string, string>> | undefined {
  const names = (field.values ?? [])
    .map((value) => [field.renamed?.[newer]?.[value] ?? value, field.renamed?.[older]?.[value] ?? value])
    .filter(([now, before]) => now !== before);
  return names.length === 0 ? undefined : Object.fromEntries(names);
}
