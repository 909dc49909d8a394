import type avro from 'avsc';
import type { Type } from 'avsc';
import type { LogicalKind } from './written-schema.ts';

/** The unit of each logical type that is mistaken for a time of ours. */
const UNITS: Readonly<Record<string, string>> = {
  'timestamp-millis': 'milliseconds since 1970, UTC',
  'timestamp-micros': 'microseconds since 1970, UTC',
  'timestamp-nanos': 'nanoseconds since 1970, UTC',
  'local-timestamp-millis': 'milliseconds of a local time, without its zone',
  'local-timestamp-micros': 'microseconds of a local time, without its zone',
  'local-timestamp-nanos': 'nanoseconds of a local time, without its zone',
  'time-millis': 'milliseconds since midnight',
  'time-micros': 'microseconds since midnight',
  date: 'days since 1970',
};

/** Returns a type as a refusal names it: `a long of timestamp-micros (microseconds since 1970, UTC)`. */
export function writtenName(type: Type, logical: LogicalKind | undefined): string {
  const plain = plainName(type);
  if (logical === undefined) {
    return type.typeName === 'long' || type.typeName === 'int' ? `${plain} without a logical type` : plain;
  }
  const unit = UNITS[logical.name];
  return `${plain} of ${logical.name.slice(0, 60)}${unit === undefined ? '' : ` (${unit})`}`;
}

function plainName(type: Type): string {
  switch (type.typeName) {
    case 'null':
      return 'null';
    case 'int':
      return 'an int';
    case 'array':
      return 'an array';
    case 'bytes':
      return 'bytes';
    case 'record':
    case 'enum':
      return `the ${type.typeName} ${shortName(type.name)}`;
    case 'fixed':
      return `the fixed ${shortName(type.name)} of ${(type as avro.types.FixedType).size} bytes`;
    default:
      return `a ${type.typeName}`;
  }
}

function shortName(name = ''): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}
