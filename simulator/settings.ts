import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { isLoopbackUrl } from '../services/domain/access/sandbox-file.ts';
import { isLoopbackHost } from '../services/domain/text/loopback.ts';
import { withoutTrailing } from '../services/domain/text/trimmed.ts';
import { visible } from '../services/domain/text/visible-text.ts';
import { headerSecret } from './client/header-secret.ts';
import { CommandFailure, EXIT, mistyped, usage } from './exit.ts';
import { meantAddress } from './line/meant-url.ts';
import { readOwnFile } from './own-file.ts';
import { type Environment, foundDataDir, SANDBOX_FILE } from './sandbox-place.ts';

export type { Environment } from './sandbox-place.ts';

/** Options every command takes. */
export interface GlobalOptions {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly producerKey?: string | undefined;
  readonly merchant?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly kafkaBrokers?: string | undefined;
  readonly schemaRegistryUrl?: string | undefined;
  readonly eventsTopic?: string | undefined;
}

/** A value and its source, which `whoami` shows: wrong keys usually come from elsewhere. */
export interface Sourced {
  readonly value: string;
  readonly source: string;
}

const NAMES = {
  baseUrl: { option: '--base-url', variable: 'HOOKRAIL_BASE_URL' },
  apiKey: { option: '--api-key', variable: 'HOOKRAIL_API_KEY' },
  producerKey: { option: '--producer-key', variable: 'HOOKRAIL_PRODUCER_KEY' },
  merchant: { option: '--merchant', variable: 'HOOKRAIL_MERCHANT_ID' },
  kafkaBrokers: { option: '--kafka-brokers', variable: 'HOOKRAIL_KAFKA_BROKERS' },
  schemaRegistryUrl: { option: '--schema-registry-url', variable: 'HOOKRAIL_SCHEMA_REGISTRY_URL' },
  eventsTopic: { option: '--events-topic', variable: 'HOOKRAIL_EVENTS_TOPIC' },
  extraCaFile: { option: '', variable: 'HOOKRAIL_EXTRA_CA_FILE' },
  operationsHost: { option: '', variable: 'HOOKRAIL_OPS_HOST' },
  operationsPort: { option: '', variable: 'HOOKRAIL_OPS_PORT' },
} as const;
export type SettingName = keyof typeof NAMES;

const WHAT = {
  baseUrl: 'base URL',
  apiKey: 'API key',
  producerKey: 'producer key',
  merchant: 'merchant id',
  kafkaBrokers: 'Kafka broker',
  schemaRegistryUrl: 'schema registry',
} as const;

/** The sandbox's exemptions from the address guard: receivers on the developer's machine, and nothing else. */
export const EGRESS_ALLOW = '127.0.0.0/8,::1/128,localhost';

const BASE_URL_DEFAULT = 'http://127.0.0.1:8080';

/** The settings of a command: options override the environment, which overrides the sandbox's file. */
export class Settings {
  readonly dataDir: string;
  /** Why the data directory is not the one of this folder; null where it is, or was given. */
  readonly whyThere: string | null;
  readonly #options: GlobalOptions;
  readonly #environment: Environment;
  #fileRead: Environment | undefined;

  constructor(options: GlobalOptions, environment: Environment) {
    this.#options = options;
    this.#environment = environment;
    const { dataDir, why } = options.dataDir
      ? { dataDir: options.dataDir, why: null }
      : foundDataDir(environment);
    this.dataDir = dataDir;
    this.whyThere = why;
  }

  /** Read when a value is first looked for: a command that needs none of it does not fail for it. */
  get #file(): Environment {
    this.#fileRead ??= parseEnv(readOwnFile(this.sandboxFile) ?? '');
    return this.#fileRead;
  }

  get sandboxFile(): string {
    return join(this.dataDir, SANDBOX_FILE);
  }

  find(name: SettingName): Sourced | undefined {
    const { option, variable } = NAMES[name];
    const typed = option === '' ? undefined : this.#options[name as keyof GlobalOptions];
    if (typed) return { value: typed, source: `option ${option}` };
    const set = this.#environment[variable];
    if (set) return { value: set, source: `environment ${variable}` };
    const kept = this.#file[variable];
    // A line feed or a colour in a value of a file would forge the message that names it.
    return kept ? { value: visible(kept), source: this.sandboxFile } : undefined;
  }

  /** Returns the next best address of the API, for when the one in force is not the API's. */
  otherBaseUrl(): string {
    const { value, source } = this.baseUrl();
    const set = this.#environment.HOOKRAIL_BASE_URL;
    const kept = source === this.sandboxFile ? undefined : this.#anyway(() => this.#fileBaseUrl());
    const others = [set && withoutSlash(set), kept, BASE_URL_DEFAULT];
    return others.find((other) => other !== undefined && other !== '' && other !== value) ?? BASE_URL_DEFAULT;
  }

  /**
   * Returns the API's address without a trailing slash. Throws a usage failure when it is not an http(s) URL, or when it
   * stands in a file and is not of this machine.
   */
  baseUrl(): Sourced {
    const found = this.find('baseUrl') ?? { value: BASE_URL_DEFAULT, source: 'default' };
    if (!/^https?:\/\/[^/]+/i.test(found.value) || !URL.canParse(found.value)) {
      const says = `base URL "${found.value}" (from ${found.source}) is not an http or https URL`;
      throw mistyped(says, found.value, meantAddress(found.value));
    }
    if (this.isOfFile(found) && !isLoopbackUrl(found.value)) throw this.#notHere('baseUrl', found);
    return { ...found, value: withoutSlash(found.value) };
  }

  /**
   * Returns the API's address, and the key for it. A key goes to an address of the same source: one of the sandbox's file
   * to the address of that file, and one that the user gives to an address that the user gives.
   */
  connection(name: 'apiKey' | 'producerKey'): { readonly baseUrl: string; readonly key: string } {
    const address = this.baseUrl();
    const key = this.find(name);
    if (!key) throw this.#missing(name);
    const what = WHAT[name];
    const { option, variable } = NAMES[name];
    if (this.isOfFile(key)) {
      const own = this.#fileBaseUrl();
      if (!isSameUrl(address.value, own)) {
        throw usage(
          `the ${what} of ${key.source} is for ${own}; it is not sent to ${address.value} (from ${address.source})`,
          `give the key for that address: ${option} … (or ${variable})`,
          `or use the sandbox of the file: leave out ${address.source}`,
        );
      }
    } else if (this.isOfFile(address) && !isSameUrl(address.value, BASE_URL_DEFAULT)) {
      if (this.#file[variable] !== key.value)
        throw usage(
          `the ${what} (from ${key.source}) is not sent to ${address.value}, an address that only a file names: ${address.source}`,
          `if you mean that address, say so: --base-url ${address.value} (or HOOKRAIL_BASE_URL)`,
        );
    }
    return { baseUrl: address.value, key: headerSecret(`the ${what} (from ${key.source})`, key.value) };
  }

  /** Returns the sandbox that the file is of, whatever options and environment say. */
  sandbox(): { readonly baseUrl: string; readonly merchantKey: string; readonly producerKey: string } {
    const { HOOKRAIL_API_KEY: merchantKey, HOOKRAIL_PRODUCER_KEY: producerKey } = this.#file;
    const address = { value: this.#fileBaseUrl(), source: this.sandboxFile };
    if (!isLoopbackUrl(address.value)) throw this.#notHere('baseUrl', address);
    if (merchantKey && producerKey) return { baseUrl: address.value, merchantKey, producerKey };
    throw usage(
      `${this.sandboxFile} has no keys: no sandbox was started there`,
      'start one with: hookrail start',
      'or name the data directory of the one that runs: --data-dir …',
    );
  }

  /** Returns a key, or throws a failure that explains how to get one. */
  key(name: 'apiKey' | 'producerKey'): string {
    return this.connection(name).key;
  }

  /** Whether a value comes from the sandbox's file, and not from the user. */
  isOfFile({ source }: Sourced): boolean {
    return source === this.sandboxFile;
  }

  /** Returns the address of the operations server. Throws a usage failure when a file names one of another machine. */
  operationsUrl(): Sourced {
    const host = this.find('operationsHost') ?? { value: '127.0.0.1', source: 'default' };
    const port = this.find('operationsPort') ?? { value: '8081', source: 'default' };
    const name = loopbackOf(host.value);
    const isV6 = name.includes(':') && !name.startsWith('[');
    const value = `http://${isV6 ? `[${name}]` : name}:${port.value}`;
    if (!/^\d{1,5}$/.test(port.value) || !URL.canParse(value) || /[@/?#\\]/.test(name))
      throw usage(`${host.value}:${port.value} (from ${port.source}) is not a host and a port`);
    if (this.isOfFile(host) && !isLoopbackUrl(value)) throw this.#notHere('operationsHost', host);
    return { value, source: port.source };
  }

  /** Returns the address of the operations server for the operator's token, which goes to this machine only. */
  operationsUrlForToken(): string {
    const { value } = this.operationsUrl();
    if (isLoopbackUrl(value)) return value;
    throw usage(
      `the operator's token in ${this.dataDir} is not sent to ${value}: a sandbox runs on this machine`,
      'leave out HOOKRAIL_OPS_HOST, or set it to 127.0.0.1',
    );
  }

  /** Returns an address of Kafka. Throws a usage failure when a file names one of another machine. */
  kafkaAddress(name: 'kafkaBrokers' | 'schemaRegistryUrl'): Sourced {
    const found = this.needed(name);
    if (!this.isOfFile(found)) return found;
    const isHere =
      name === 'schemaRegistryUrl'
        ? isLoopbackUrl(found.value)
        : found.value.split(',').every((broker) => isLoopbackHost(broker.trim().replace(/:\d{1,5}$/, '')));
    if (!isHere) throw this.#notHere(name, found);
    return found;
  }

  #fileBaseUrl(): string {
    return withoutSlash(this.#file.HOOKRAIL_BASE_URL || BASE_URL_DEFAULT);
  }

  #notHere(name: SettingName, { value, source }: Sourced): CommandFailure {
    const { option, variable } = NAMES[name];
    const given = option === '' ? `${variable}=${value}` : `${option} ${value} (or ${variable})`;
    return usage(
      `${variable}=${value} of ${source} is refused: a file may name an address of this machine only`,
      `if you mean that address, say so: ${given}`,
    );
  }

  /** Throws a usage failure for a live key, whatever the command would do with it. */
  refuseLive(): void {
    for (const name of ['apiKey', 'producerKey'] as const) {
      const found = this.#anyway(() => this.find(name));
      if (found === undefined || !/^(sk|pk)_live_/.test(found.value)) continue;
      throw usage(
        `the key from ${found.source} is a live key; the simulator works with sandbox keys only`,
        'check which keys are used: hookrail sim whoami --api-key <sandbox key>',
      );
    }
  }

  /** Returns a value, where a file that is refused counts as none: who uses a value of it gets the reason. */
  #anyway<Value>(value: () => Value): Value | undefined {
    try {
      return value();
    } catch (error) {
      if (error instanceof CommandFailure) return undefined;
      throw error;
    }
  }

  merchantId(): string {
    return this.needed('merchant').value;
  }

  /** Returns a setting, or throws a usage failure that explains how to give it. */
  needed(name: 'merchant' | 'kafkaBrokers' | 'schemaRegistryUrl'): Sourced {
    const found = this.find(name);
    if (!found) throw this.#missing(name);
    return found;
  }

  #missing(
    name: Exclude<SettingName, 'extraCaFile' | 'eventsTopic' | 'operationsHost' | 'operationsPort'>,
  ): CommandFailure {
    const { option, variable } = NAMES[name];
    const isKey = name === 'apiKey' || name === 'producerKey';
    const isKafka = name === 'kafkaBrokers' || name === 'schemaRegistryUrl';
    const start = isKafka
      ? 'start hookrail on Kafka (docs/deploy.md)'
      : 'start the sandbox with: hookrail start';
    return new CommandFailure(
      isKey ? EXIT.authentication : EXIT.usage,
      `no ${WHAT[name]}: ${option} and ${variable} are not given, and ${this.sandboxFile} has none`,
      [start, `or give one with: ${option} …`],
    );
  }
}

function withoutSlash(url: string): string {
  return withoutTrailing(url, '/');
}

/** Whether two URLs are the same address, however they are written. */
function isSameUrl(a: string, b: string): boolean {
  return a === b || (URL.canParse(a) && URL.canParse(b) && new URL(a).href === new URL(b).href);
}

/** Returns the host under which this machine reaches a server that listens on all of its addresses. */
export function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' || host === '[::]' ? '[::1]' : host;
}
