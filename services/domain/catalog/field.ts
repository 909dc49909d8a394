import { API_VERSIONS, type ApiVersion } from '../endpoint.ts';

/**
 * The form of a value. `decimal`: an exact amount, a plain decimal string in an event and the digits of a number in a
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
  /** The subTypes that show it. Bodies of others leave it out, even when the event has it. */
  readonly on: 'all' | readonly string[];
  /** An event that should show it but lacks it cannot be rendered. */
  readonly required: boolean;
  readonly versions: readonly ApiVersion[];
  /**
   * Every known value. Others are delivered too, and reported to operators (docs/decisions.md, "Event data").
   */
  readonly values?: readonly string[];
  /** The known values of a subType, where they depend on it. */
  readonly valuesOn?: Readonly<Record<string, readonly string[]>>;
  /** An older version's names for values. */
  readonly renamed?: Partial<Readonly<Record<ApiVersion, Readonly<Record<string, string>>>>>;
  /** The form of a string: an ISO 3166-1 alpha-2 country or an ISO 4217 currency. */
  readonly format?: 'country' | 'currency';
  /** The only value. Producers need not send it; it is not part of the stored event. */
  readonly constant?: string;
  /** SubTypes whose bodies have the field as null, whatever the event holds. */
  readonly nullOn?: readonly string[];
  /** Shown only while the event's `status` is one of these. */
  readonly onStatus?: readonly string[];
  /** Shown only to merchants with this entitlement. */
  readonly entitlement?: 'senderAccountDetails';
  /** The fields of an object, or of an array's objects. An array without them holds strings. */
  readonly fields?: readonly Field[];
  /** Used in the catalogue and in openapi.yaml. */
  readonly description: string;
}

type Details = Partial<Omit<Field, 'name' | 'kind' | 'required' | 'description'>>;

/** Returns the row of a field that must be present wherever it is shown. */
export function required(name: string, kind: FieldKind, description: string, details: Details = {}): Field {
  return { name, kind, required: true, description, on: 'all', versions: API_VERSIONS, ...details };
}

/** Returns the row of a field that may be absent: then the body has no such key. */
export function optional(name: string, kind: FieldKind, description: string, details: Details = {}): Field {
  return { name, kind, required: false, description, on: 'all', versions: API_VERSIONS, ...details };
}

/**
 * Returns the row of `status`, which repeats the subType except where `exceptions` lists other values
 * (docs/decisions.md, "Data of the open types").
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
