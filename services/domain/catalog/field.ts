import { API_VERSIONS, type ApiVersion } from '../endpoint.ts';

/**
 * What a value looks like. `decimal`: an exact amount, a plain decimal string in an event and a number's digits in a
 * body. `timestamp`: RFC 3339, in UTC with milliseconds. Arrays hold strings or objects, never arrays.
 */
export const FIELD_KINDS = [
  'string',
  'uuid',
  'decimal',
  'integer',
  'boolean',
  'timestamp',
  'object',
  'array',
] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** One row of the presence table: a field of `data`, where it occurs, and what it may hold. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** The subTypes that show it. Elsewhere it is left out of the body, even when the event has it. */
  readonly on: 'all' | readonly string[];
  /** Where it is shown, an event without it cannot be rendered. */
  readonly required: boolean;
  readonly versions: readonly ApiVersion[];
  /** Every known value. Producers are held to it; receivers must expect others (docs/decisions.md, "Event data"). */
  readonly values?: readonly string[];
  /** The values that fit a subType, where they depend on it. */
  readonly valuesOn?: Readonly<Record<string, readonly string[]>>;
  /** What an older version calls a value. */
  readonly renamed?: Partial<Readonly<Record<ApiVersion, Readonly<Record<string, string>>>>>;
  /** Always this value. Producers need not send it; it is no part of the stored event. */
  readonly constant?: string;
  /** SubTypes on which the body has the field as null, whatever the event says. */
  readonly nullOn?: readonly string[];
  /** Shown only to merchants with this entitlement. */
  readonly entitlement?: 'senderAccountDetails';
  /** The fields of an object, or of an array's objects. An array without them holds strings. */
  readonly fields?: readonly Field[];
  /** For the catalogue and openapi.yaml. */
  readonly description: string;
}

type Details = Partial<Omit<Field, 'name' | 'kind' | 'required' | 'description'>>;

/** A row for a field that must be there wherever it is shown. */
export function required(name: string, kind: FieldKind, description: string, details: Details = {}): Field {
  return { name, kind, required: true, description, on: 'all', versions: API_VERSIONS, ...details };
}

/** A row for a field that may be absent: then the body has no such key. */
export function optional(name: string, kind: FieldKind, description: string, details: Details = {}): Field {
  return { name, kind, required: false, description, on: 'all', versions: API_VERSIONS, ...details };
}

/**
 * `status`, which repeats the subType except where `exceptions` lists what it says instead (docs/decisions.md, "Data of
 * the open types").
 */
export function statusOf(
  subTypes: readonly string[],
  description: string,
  exceptions: Readonly<Record<string, readonly string[]>> = {},
): Field {
  const valuesOn = Object.fromEntries(subTypes.map((subType) => [subType, exceptions[subType] ?? [subType]]));
  const values = [...new Set(Object.values(valuesOn).flat())];
  return required('status', 'string', description, { values, valuesOn });
}

/** Fields that only the latest version has (docs/specification.md, "API versions"). */
export const LATEST_ONLY: readonly ApiVersion[] = ['2.3.8'];
