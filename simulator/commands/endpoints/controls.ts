import { readFileSync } from 'node:fs';
import { messageOf } from '../../../services/messages/error-message.ts';
import type { EndpointChange } from '../../client/merchant-api.ts';
import { usage } from '../../exit.ts';
import type { Environment } from '../../settings.ts';

/** Headers of the merchant's own, and the limit of requests per second. */
export interface ControlOptions {
  readonly header?: string[];
  readonly headerEnv?: string[];
  readonly headerFile?: string[];
  readonly requestsPerSecond?: string;
}

const MANY = { type: 'string', array: true, requiresArg: true } as const;

export const CONTROL_OPTIONS = {
  header: { ...MANY, describe: 'Header that each webhook has: "Name: value"' },
  'header-env': { ...MANY, describe: 'The same with the value of a variable: Name=VARIABLE' },
  'header-file': { ...MANY, describe: 'The same with the text of a file: Name=FILE' },
  'requests-per-second': {
    type: 'string',
    requiresArg: true,
    describe: 'Most requests that it gets in a second, or none',
  },
} as const;

export const CONTROL_CHANGES = {
  ...CONTROL_OPTIONS,
  header: { ...MANY, describe: 'All its headers: "Name: value", or "Name" to keep the value it has' },
  'clear-headers': { type: 'boolean', describe: 'Send no header of your own any more' },
} as const;

type Headers = NonNullable<EndpointChange['headers']>;
type Controls = Pick<EndpointChange, 'headers' | 'requests_per_second'>;

/** Returns what the options ask for. Throws CommandFailure. */
export function controlsOf(
  options: ControlOptions & { readonly clearHeaders?: boolean },
  environment: Environment,
): Controls {
  const headers: Headers = [
    ...(options.header ?? []).map(headerTyped),
    ...(options.headerEnv ?? []).map((text) =>
      named('--header-env', text, (name) => valueIn(environment, name)),
    ),
    ...(options.headerFile ?? []).map((text) => named('--header-file', text, textOf)),
  ];
  const { clearHeaders = false, requestsPerSecond } = options;
  if (clearHeaders && headers.length > 0) throw usage('--clear-headers and headers cannot be combined');
  return {
    ...(clearHeaders || headers.length > 0 ? { headers } : {}),
    ...(requestsPerSecond === undefined ? {} : { requests_per_second: limitOf(requestsPerSecond) }),
  };
}

/** Returns the headers of a new endpoint, each with its value. */
export function newControlsOf(options: ControlOptions, environment: Environment) {
  const { headers, ...limit } = controlsOf(options, environment);
  const valued = headers?.map(({ name, value }) => {
    if (value === undefined) throw usage(`--header ${name}: the value is missing: --header "${name}: value"`);
    return { name, value };
  });
  return { ...limit, ...(valued ? { headers: valued } : {}) };
}

function headerTyped(text: string): Headers[number] {
  const colon = text.indexOf(':');
  if (colon < 0) return { name: text.trim() };
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() };
}

function named(option: string, text: string, read: (source: string) => string): Headers[number] {
  const [, name, source] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || source === undefined)
    throw usage(`${option} needs Name=SOURCE, as in ${option} X-Api-Key=…`);
  return { name: name.trim(), value: read(source) };
}

function valueIn(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined) throw usage(`--header-env: the variable ${name} is not set`);
  return value.trim();
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw usage(`--header-file: cannot read ${path}: ${messageOf(error)}`);
  }
}

function limitOf(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw usage('--requests-per-second needs a whole number from 1 to 1000, or none');
}
