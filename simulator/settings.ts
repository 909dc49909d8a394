import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { withoutTrailing } from '../services/domain/text/trimmed.ts';
import { CommandFailure, EXIT, usage } from './exit.ts';
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

/** The sandbox's exemptions from the address guard: receivers on the developer's machine, and nothing else. */
export const EGRESS_ALLOW = '127.0.0.0/8,::1/128,localhost';

const BASE_URL_DEFAULT = 'http://127.0.0.1:8080';

/** The settings of a command: options override the environment, which overrides the sandbox's file. */
export class Settings {
  readonly dataDir: string;
  readonly #options: GlobalOptions;
  readonly #environment: Environment;
  readonly #file: Environment;

  constructor(options: GlobalOptions, environment: Environment) {
    this.#options = options;
    this.#environment = environment;
    this.dataDir = options.dataDir ?? foundDataDir(environment);
    this.#file = readSandboxFile(this.sandboxFile);
  }

  get sandboxFile(): string {
    return join(this.dataDir, SANDBOX_FILE);
  }

  find(name: SettingName): Sourced | undefined {
    return this.#all(name)[0];
  }

  /** Returns every value that a setting is given, the one in force first. */
  #all(name: SettingName): readonly Sourced[] {
    const { option, variable } = NAMES[name];
    const sources = [
      [option === '' ? undefined : this.#options[name as keyof GlobalOptions], `option ${option}`],
      [this.#environment[variable], `environment ${variable}`],
      [this.#file[variable], this.sandboxFile],
    ] as const;
    return sources.flatMap(([value, source]) => (value ? [{ value, source }] : []));
  }

  /** Returns the next best address of the API, for when the one in force is not the API's. */
  otherBaseUrl(): string {
    const { value } = this.baseUrl();
    const others = [...this.#all('baseUrl').map((sourced) => withoutSlash(sourced.value)), BASE_URL_DEFAULT];
    return others.find((other) => other !== value) ?? BASE_URL_DEFAULT;
  }

  /** Returns the API's address without a trailing slash. Throws a usage failure when it is not an http(s) URL. */
  baseUrl(): Sourced {
    const found = this.find('baseUrl') ?? { value: BASE_URL_DEFAULT, source: 'default' };
    if (!/^https?:\/\/[^/]+/.test(found.value) || !URL.canParse(found.value)) {
      throw usage(`base URL "${found.value}" (from ${found.source}) is not an http or https URL`);
    }
    return { ...found, value: withoutSlash(found.value) };
  }

  /** Returns a key, or throws a failure that explains how to get one. */
  key(name: 'apiKey' | 'producerKey'): string {
    const found = this.find(name);
    if (!found) throw this.#missing(name);
    return found.value;
  }

  /** Returns the address of the operations server. */
  operationsUrl(): Sourced {
    const host = this.find('operationsHost')?.value ?? '127.0.0.1';
    const port = this.find('operationsPort') ?? { value: '8081', source: 'default' };
    const isV6 = host.includes(':') && !host.startsWith('[');
    return { value: `http://${isV6 ? `[${host}]` : host}:${port.value}`, source: port.source };
  }

  /** Throws a usage failure for a live key, whatever the command would do with it. */
  refuseLive(): void {
    for (const name of ['apiKey', 'producerKey'] as const) {
      const found = this.find(name);
      if (found === undefined || !/^(sk|pk)_live_/.test(found.value)) continue;
      throw usage(
        `the key from ${found.source} is a live key; the simulator works with sandbox keys only`,
        'check which keys are used: hookrail sim whoami --api-key <sandbox key>',
      );
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
    const what = {
      baseUrl: 'base URL',
      apiKey: 'API key',
      producerKey: 'producer key',
      merchant: 'merchant id',
      kafkaBrokers: 'Kafka broker',
      schemaRegistryUrl: 'schema registry',
    };
    const isKey = name === 'apiKey' || name === 'producerKey';
    const isKafka = name === 'kafkaBrokers' || name === 'schemaRegistryUrl';
    const start = isKafka
      ? 'start hookrail on Kafka (docs/deploy.md)'
      : 'start the sandbox with: hookrail start';
    return new CommandFailure(
      isKey ? EXIT.authentication : EXIT.usage,
      `no ${what[name]}: ${option} and ${variable} are not given, and ${this.sandboxFile} has none`,
      [start, `or give one with: ${option} …`],
    );
  }
}

function withoutSlash(url: string): string {
  return withoutTrailing(url, '/');
}

function readSandboxFile(path: string): Environment {
  if (!existsSync(path)) return {};
  return parseEnv(readFileSync(path, 'utf8'));
}
