import { parseArgs } from 'node:util';
import { ENGINE_NAMES, type EngineName, STORE_NAMES, type StoreName } from './engines.ts';
import { SPECIAL_NAMES, SPECIAL_RUNS, type SpecialName } from './special/runs.ts';

/** The rows of the throughput. */
export const THROUGHPUT_ROWS = [
  { endpoints: 1, via: 'engine' },
  { endpoints: 100, via: 'engine' },
  { endpoints: 1, via: 'rest' },
] as const;

const SPECIAL_OPTIONS = Object.fromEntries(
  SPECIAL_NAMES.map((name) => [name, { type: 'boolean', default: false }] as const),
) as Readonly<Record<SpecialName, { readonly type: 'boolean'; readonly default: false }>>;

export interface Options {
  /** The file for the JSON report, or null. */
  readonly json: string | null;
  /** The file for the report with plots, or null. */
  readonly html: string | null;
  readonly quick: boolean;
  readonly engines: readonly EngineName[];
  /** Whether `--engine` was given: the engine must then be available. */
  readonly isChosen: boolean;
  readonly store: StoreName;
  readonly brokers: number;
  /** Busy loops that run beside everything. */
  readonly beside: number;
  /** How often throughput and latency are measured. */
  readonly times: number;
  /** Only throughput, and only with this many endpoints; null: all rows and the latency. */
  readonly endpoints: number | null;
  /** The length of a row of `--isolation`, or null: as long as usual. */
  readonly seconds: number | null;
  /** A measurement instead of throughput and latency. */
  readonly special: SpecialName | null;
}

/** Reads the command line. Throws with the option that is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'string' },
      html: { type: 'string' },
      quick: { type: 'boolean', default: false },
      engine: { type: 'string' },
      store: { type: 'string', default: 'sqlite' },
      brokers: { type: 'string', default: '1' },
      beside: { type: 'string', default: '0' },
      times: { type: 'string', default: '1' },
      endpoints: { type: 'string' },
      seconds: { type: 'string' },
      ...SPECIAL_OPTIONS,
    },
  });
  const named = ENGINE_NAMES.filter((name) => values.engine === undefined || name === values.engine);
  if (named.length === 0) throw new Error(`--engine must be one of ${ENGINE_NAMES.join(', ')}`);
  const specials = SPECIAL_NAMES.filter((name) => values[name]);
  if (specials.length > 1) throw new Error(`--${specials.join(' and --')} cannot be combined`);
  const [special = null] = specials;
  const store = STORE_NAMES.find((name) => name === values.store);
  if (store === undefined) throw new Error(`--store must be one of ${STORE_NAMES.join(', ')}`);
  const isOfService = special === null || SPECIAL_RUNS[special].of !== 'a part';
  const isOnPostgres = store === 'postgres' && isOfService;
  if (isOnPostgres && (values.engine === 'sqlite' || special === 'hops'))
    throw new Error('--store postgres needs Kafka: it is neither for --engine sqlite nor for --hops');
  const engines = isOnPostgres ? (['kafka'] as const) : named;
  const times = whole('times', values.times, 1, 100);
  if (special !== null && times > 1)
    throw new Error(`--times repeats throughput and latency, not --${special}`);
  if (special !== null && values.html !== undefined) throw new Error(`--${special} has no --html report`);
  if (special !== null && values.endpoints !== undefined)
    throw new Error(`--endpoints selects rows of the throughput, not of --${special}`);
  if (special !== 'isolation' && values.seconds !== undefined)
    throw new Error('--seconds is for --isolation only');
  return {
    ...{ json: values.json ?? null, html: values.html ?? null, quick: values.quick },
    ...{ engines, isChosen: values.engine !== undefined || isOnPostgres, store },
    brokers: whole('brokers', values.brokers, 1, 9),
    beside: whole('beside', values.beside, 0, 64),
    ...{ times, special, endpoints: endpointsOf(values.endpoints) },
    seconds: values.seconds === undefined ? null : whole('seconds', values.seconds, 1, 600),
  };
}

function endpointsOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const counts = [...new Set(THROUGHPUT_ROWS.map(({ endpoints }) => endpoints))];
  const found = counts.find((count) => `${count}` === text);
  if (found === undefined) throw new Error(`--endpoints must be one of ${counts.join(', ')}, not "${text}"`);
  return found;
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a whole number from ${least} to ${most}, not "${text}"`);
}
