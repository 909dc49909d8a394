import { isUuid } from '../../domain/ids.ts';
import { textFaultsIn } from '../../domain/text/text-fault.ts';
import { UsageError } from './operator-error.ts';

/** The arguments of operator commands: how they are declared, and the one check of what is given. */

/**
 * One argument of a command. `path`: a file; `time`: RFC 3339, or an age; `texts`: a list; `names`: a list that may also
 * be written with commas.
 */
export interface Argument {
  readonly type: 'text' | 'path' | 'uuid' | 'time' | 'flag' | 'number' | 'texts' | 'names';
  readonly describe?: string;
  readonly required?: true;
  /** Its place in the command line names it. */
  readonly positional?: true;
  readonly choices?: readonly string[];
  readonly default?: string | number;
  readonly least?: number;
  /** The largest number; the most characters of a text, the most names of a list. */
  readonly most?: number;
  /** Returns what is wrong with a value of the right type. */
  readonly check?: (value: string) => string | undefined;
  /** The tool uses it itself, and sends it to no service. */
  readonly local?: true;
  /** A relative path is one of the tool's working directory: the service has another. */
  readonly absolute?: true;
}

export type Arguments = Readonly<Record<string, Argument>>;
/** Arguments as they are given over HTTP or in a command line, unchecked. */
export type Unchecked = Readonly<Record<string, unknown>>;

type TextOf<A extends Argument> = A extends { readonly choices: readonly (infer Choice)[] } ? Choice : string;
type ValueOf<A extends Argument> = A['type'] extends 'flag'
  ? boolean
  : A['type'] extends 'number'
    ? number
    : A['type'] extends 'texts' | 'names'
      ? readonly TextOf<A>[]
      : TextOf<A>;

type Certain = { readonly required: true } | { readonly default: string | number };

/** The values of checked arguments. */
export type Given<As extends Arguments> = {
  readonly [Name in keyof As]: ValueOf<As[Name]> | (As[Name] extends Certain ? never : undefined);
};

export type Values = Given<Arguments>;

const MOST = { text: 255, path: 4096, uuid: 255, time: 255, names: 1000, texts: 10_000 } as const;

/**
 * Returns the values of arguments, with the defaults of those that are not given. Throws UsageError for one that is
 * missing, unknown or wrong, and for texts that could not be kept unchanged, or not in every store.
 */
export function checked(declared: Arguments, given: Unchecked): Values {
  const [fault] = textFaultsIn(given);
  if (fault) throw new UsageError(`${fault.pointer.slice(1)}: ${fault.detail}`);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) throw new UsageError(`${unknown}: the command has no such argument`);
  const values = Object.entries(declared).flatMap(([name, argument]) => {
    const value = given[name] ?? argument.default;
    if (value === undefined && !argument.required) return [];
    return [[name, checkedValue(name, argument, value)] as const];
  });
  return Object.fromEntries(values) as Values;
}

function checkedValue(name: string, argument: Argument, value: unknown): unknown {
  const read = readAs(argument, value);
  if (read === undefined) throw new UsageError(`${name}: must be ${expected(argument)}`);
  const { type, choices, check } = argument;
  for (const text of Array.isArray(read) ? read : [read]) {
    if (type === 'uuid' && !isUuid(`${text}`)) throw new UsageError(`${name}: "${text}" is not a UUID`);
    if (choices && !choices.includes(`${text}`))
      throw new UsageError(`${name}: must be one of ${choices.join(', ')}`);
    const fault = check?.(`${text}`);
    if (fault !== undefined) throw new UsageError(`${name}: ${fault}`);
  }
  return read;
}

/** Returns a value of the argument's type; undefined when it has another. */
function readAs({ type, least = 1, most }: Argument, value: unknown): unknown {
  if (type === 'flag') return typeof value === 'boolean' ? value : undefined;
  if (type === 'number') {
    const isWithin = Number.isInteger(value) && Number(value) >= least && Number(value) <= (most ?? Infinity);
    return isWithin ? value : undefined;
  }
  if (type === 'texts' || type === 'names') return listOf(type, most ?? MOST[type], value);
  if (typeof value !== 'string' || value.trim() === '' || value.length > (most ?? MOST[type])) return;
  return type === 'time' && agoMs(value) === undefined && Number.isNaN(Date.parse(value)) ? undefined : value;
}

function listOf(type: 'texts' | 'names', most: number, value: unknown): readonly string[] | undefined {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = items.filter((item) => typeof item === 'string');
  if (texts.length < items.length) return undefined;
  if (type === 'texts') return texts.length <= most ? texts : undefined;
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const isNamed = names.length > 0 && names.length <= most && !names.includes('');
  return isNamed ? [...new Set(names)] : undefined;
}

/** Says what an argument must be. */
function expected({ type, least = 1, most, choices }: Argument): string {
  if (choices) return `one of ${choices.join(', ')}`;
  if (type === 'flag') return 'true or false';
  if (type === 'number') return `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`;
  if (type === 'time') return 'a time such as 2030-01-31T08:00:00Z, or how long ago, such as 30m, 2h or 7d';
  if (type === 'texts') return 'a list of texts';
  if (type === 'names') return `1 to ${most ?? MOST.names} names`;
  return `a text of 1 to ${most ?? MOST[type]} characters`;
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the age that a text gives (30m, 2h, 7d), in milliseconds; undefined for any other text. */
function agoMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}

/** Returns the point in time that a checked `time` gives, in whole milliseconds since the epoch. */
export function timeOf<Text extends string | undefined>(
  text: Text,
  now: number,
): number | (Text extends string ? never : undefined);
export function timeOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ago = agoMs(text);
  return ago === undefined ? Date.parse(text) : Math.floor(now - ago);
}
