import { didYouMean } from '../messages/did-you-mean.ts';

/** An invalid configuration: one clear line, exit code 1. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** One environment variable: its parser, its default, and its meaning in docs/configuration.md. */
export interface Variable<Value> {
  readonly parse: (text: string) => Value;
  /** Used when the variable is not set. Shown in docs/configuration.md as written here. */
  readonly fallback: Value;
  readonly meaning: string;
}

export const variable = <Value>(
  parse: (text: string) => Value,
  fallback: Value,
  meaning: string,
): Variable<Value> => ({
  parse,
  fallback,
  meaning,
});

/** Thrown by parsers with what is wrong; readVariables adds the variable's name and value. */
export class Malformed extends Error {}

const asText = (text: string): string => text;

function asNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(value) || value < min || value > max) {
      throw new Malformed(`must be a number from ${min} to ${max}`);
    }
    return value;
  };
}

function asInteger(min: number, max: number): (text: string) => number {
  const parse = asNumber(min, max);
  return (text) => {
    const value = parse(text);
    if (!Number.isInteger(value)) throw new Malformed('must be a whole number');
    return value;
  };
}

function asOneOf<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw new Malformed(`must be one of ${choices.join(', ')}`);
    return found;
  };
}

function asList<Item>(item: (text: string) => Item): (text: string) => readonly Item[] {
  return (text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(item);
}

function asBoolean(text: string): boolean {
  return asOneOf(['true', 'false'])(text) === 'true';
}

export const as = {
  text: asText,
  number: asNumber,
  integer: asInteger,
  boolean: asBoolean,
  oneOf: asOneOf,
  list: asList,
};

/** The values read from a table of variables. */
export type Values<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Variable<infer Value> ? Value : never;
};

/**
 * Reads the table's variables from an environment. Throws ConfigError for a malformed value, and for any
 * HOOKRAIL_* name that neither the table nor `alsoKnown` has, with the nearest known name. An entry of
 * `alsoKnown` that ends with `_` is a prefix.
 */
export function readVariables<Table extends Record<string, Variable<unknown>>>(
  table: Table,
  alsoKnown: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Values<Table> {
  const known = [...Object.keys(table), ...alsoKnown.filter((name) => !name.endsWith('_'))];
  const isOfGroup = (name: string) =>
    alsoKnown.some((other) => other.endsWith('_') && name.startsWith(other));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('HOOKRAIL_') && !known.includes(name) && !isOfGroup(name)) {
      throw new ConfigError(`${name} is not a variable of hookrail${didYouMean(name, known, 1)}`);
    }
  }
  const values = Object.entries(table).map(([name, variable]) => [
    name,
    readOne(name, variable, environment[name]),
  ]);
  return Object.fromEntries(values) as Values<Table>;
}

function readOne(name: string, variable: Variable<unknown>, text: string | undefined): unknown {
  if (text === undefined) return variable.fallback;
  try {
    return variable.parse(text);
  } catch (error) {
    if (error instanceof Malformed) throw new ConfigError(`${name}="${text}" ${error.message}`);
    throw error;
  }
}

/** Throws ConfigError when some of the variables are set and others are not. */
export function togetherOrNot<Name extends string>(
  values: Readonly<Record<Name, string>>,
  ...pair: Name[]
): void {
  const given = pair.filter((name) => values[name] !== '');
  const lacking = pair.filter((name) => values[name] === '');
  if (given.length === 0 || lacking.length === 0) return;
  throw new ConfigError(`${given.join(' and ')} is set without ${lacking.join(' and ')}: set all or none`);
}
