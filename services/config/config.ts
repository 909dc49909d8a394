import { join } from 'node:path';
import { parseEgressProxy } from '../egress/egress-proxy.ts';
import { CONSOLE_VARIABLES, consoleConfig } from './console-config.ts';
import { hostName } from './host-name.ts';
import { KAFKA_VARIABLES, kafkaConfig } from './kafka-config.ts';
import { POSTGRES_VARIABLES, postgresConfig } from './postgres-config.ts';
import { rateLimits } from './rate-limits.ts';
import { retentionConfig } from './retention.ts';
import { checkRoles, ROLES } from './roles.ts';
import { serviceLinks, without } from './service-links.ts';
import { collectorOf, tracingConfig } from './tracing-config.ts';
import { trustedProxy } from './trusted-proxy.ts';
import { as, ConfigError, readVariables, variable } from './variables.ts';
import { WELL_KNOWN_VARIABLES, wellKnownConfig } from './well-known/well-known-config.ts';

export { ConfigError } from './variables.ts';

const port = as.integer(0, 65_535);

/** Every variable of the service: name, parser, default, meaning. docs/configuration.md is generated from it. */
export const VARIABLES = {
  HOOKRAIL_ENVIRONMENT: variable(
    as.oneOf(['sandbox', 'production']),
    'sandbox',
    'One deployment is one environment. Production has no test operation and refuses simulated events.',
  ),
  HOOKRAIL_ENGINE: variable(
    as.oneOf(['sqlite', 'kafka']),
    'sqlite',
    'The broker engine. `sqlite` is one process and one file; `kafka` takes any number of processes.',
  ),
  HOOKRAIL_ROLES: variable(
    as.list(as.oneOf(ROLES)),
    ROLES,
    'The stations this process runs. With the `sqlite` engine one process runs all of them; with `kafka`, any number of ' +
      'processes run each. Where the store is SQLite, one process runs both `api` and `recorder`.',
  ),
  HOOKRAIL_STORE: variable(
    as.oneOf(['sqlite', 'postgres']),
    'sqlite',
    'The engine of the store: merchants, endpoints, delivery log. `sqlite` is a file of one process; `postgres` needs ' +
      'the `kafka` engine, and takes any number of processes.',
  ),
  HOOKRAIL_DATA_DIR: variable(as.text, './data', 'The data directory: databases, key ring, operator token.'),
  HOOKRAIL_KEYRING: variable(
    as.text,
    '',
    'File of the key ring that seals signing secrets and has the platform’s signing keys. Empty: `keyring.json` in the data directory.',
  ),
  HOOKRAIL_OPERATOR: variable(
    as.text,
    '',
    'The name of the person who gives operator commands, for the audit; `--as` takes its place. Production requires one for changes and personal data. Empty: the user of the ' +
      'system and the machine, such as `ann@ops-1`.',
  ),
  HOOKRAIL_OPERATOR_TOKEN_FILE: variable(
    as.text,
    '',
    'File with the token of the operator interface, for example a mounted secret, for service and operator. Empty: the ' +
      'service makes one at each start and writes it to `operator.token` in the data directory.',
  ),
  HOOKRAIL_API_HOST: variable(as.text, '127.0.0.1', 'Address the REST API listens on.'),
  HOOKRAIL_API_PORT: variable(port, 8080, 'Port of the REST API; 0 = any free one.'),
  HOOKRAIL_API_NAMES: variable(
    as.list(hostName),
    [],
    'Names of a sandbox in requests from its own machine, comma separated: those of a proxy or tunnel there. Addresses, ' +
      '`localhost` and names without a dot need not be given; others are refused (DNS rebinding).',
  ),
  HOOKRAIL_TRUSTED_PROXIES: variable(
    as.list(trustedProxy),
    [],
    'Addresses and CIDRs of the proxies before the REST API, comma separated: `10.0.3.7,10.0.4.0/24`. They are exempt ' +
      'from the limits per address, and their `X-Forwarded-For` says which address a request comes from.',
  ),
  HOOKRAIL_OPS_HOST: variable(
    as.text,
    '127.0.0.1',
    'Address of `/livez`, `/readyz`, `/metrics` and the operator’s commands and console, which are for this machine only.',
  ),
  HOOKRAIL_OPS_PORT: variable(port, 8081, 'Port of the operations server; 0 = any free one.'),
  HOOKRAIL_OPS_NAMES: variable(
    as.list(hostName),
    [],
    'Names of the operations server in requests, comma separated: `hookrail.monitoring.svc`. Addresses, `localhost`, ' +
      '`HOOKRAIL_OPS_HOST`, and from other machines names without a dot need not be given; others are refused (DNS rebinding).',
  ),
  HOOKRAIL_RETRY_SCALE: variable(
    as.number(1, 1_000_000),
    1,
    'Divides every retry delay (sandbox only): 1000 turns 12 h 57 m into 47 s.',
  ),
  HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS: variable(as.number(1, 30), 10, 'Total time of one attempt.'),
  HOOKRAIL_CONNECT_TIMEOUT_SECONDS: variable(as.number(0.1, 30), 3, 'Time to connect, TLS included.'),
  HOOKRAIL_EGRESS_ALLOW: variable(
    as.text,
    '',
    'CIDRs and host names exempt from the address guard, any port, comma separated (sandbox only). ' +
      '`npm start` sets `127.0.0.0/8,::1/128,localhost` unless the variable is given, even empty.',
  ),
  HOOKRAIL_EGRESS_PORTS: variable(
    as.list(as.integer(1, 65_535)),
    [443, 8443],
    'Ports an endpoint URL may name.',
  ),
  HOOKRAIL_EGRESS_PROXY: variable(
    as.text,
    '',
    'A proxy that connects to receivers for the senders, so that requests come from its addresses: ' +
      '`http://[user:password@]host[:port]`. It is asked (CONNECT) for addresses that the guard has checked, never for ' +
      'names, and sees TLS only. Connections to addresses in `HOOKRAIL_EGRESS_ALLOW` are direct.',
  ),
  HOOKRAIL_EXTRA_CA_FILE: variable(
    as.text,
    '',
    'PEM file of certificate authorities trusted in addition to the system’s (sandbox only).',
  ),
  HOOKRAIL_SENDER_IN_FLIGHT: variable(
    as.integer(1, 100_000),
    4096,
    'The most live tasks that a sender holds at a time, including waiting ones.',
  ),
  HOOKRAIL_RATE_LIMIT_PER_MINUTE: variable(
    as.integer(0, 1_000_000),
    0,
    'API requests per key and minute; 0 = 100, in the sandbox 6,000.',
  ),
  HOOKRAIL_FEED_RATE_LIMIT_PER_MINUTE: variable(
    as.integer(0, 1_000_000),
    0,
    'Pages of the event feed (`GET /merchant/events?order=asc`) per key and minute; 0 = 120, in the sandbox 1,200.',
  ),
  HOOKRAIL_TEST_RATE_LIMIT_PER_MINUTE: variable(
    as.integer(0, 1_000_000),
    0,
    'Test webhooks and checks of endpoints per key and minute; 0 = 10, in the sandbox 600.',
  ),
  HOOKRAIL_FAILED_KEYS_PER_MINUTE: variable(
    as.integer(1, 1_000_000),
    60,
    'Requests without a valid key per client address (IPv6: per /64) and minute, at each api process; further ones get ' +
      '429 without a look into the store. A key that was accepted before is never held up by them.',
  ),
  HOOKRAIL_ENDPOINT_QUOTA: variable(as.integer(1, 1_000_000), 100, 'Endpoints a merchant may have.'),
  HOOKRAIL_STREAMS_PER_KEY: variable(
    as.integer(1, 1000),
    10,
    'Streams (`GET /merchant/stream`) that a key may have open at a time, at each api process; one more ends its oldest.',
  ),
  HOOKRAIL_REPLAY_PER_SECOND: variable(
    as.integer(1, 100_000),
    500,
    'The most deliveries per second that replays make, so that live ones are not delayed.',
  ),
  HOOKRAIL_RETENTION_DAYS: variable(as.integer(1, 3650), 30, 'Days that events and deliveries are kept.'),
  HOOKRAIL_BODY_RETENTION_DAYS: variable(
    as.integer(0, 3650),
    0,
    'Days that bodies are kept (event data, requests, responses: they hold names and account numbers); 0 = as ' +
      '`HOOKRAIL_RETENTION_DAYS`, which it cannot exceed.',
  ),
  HOOKRAIL_AUTO_DISABLE_HOURS: variable(
    as.number(0, 8760),
    0,
    'Hours without a success before an endpoint is auto-disabled; 0 = 72, in the sandbox 24.',
  ),
  HOOKRAIL_AUTO_DISABLE_ATTEMPTS: variable(
    as.integer(0, 1_000_000),
    0,
    'Consecutive failed attempts that auto-disabling also requires; 0 = 100, in the sandbox 20.',
  ),
  HOOKRAIL_STALL_SECONDS_MAX: variable(
    as.number(0, 3600),
    20,
    'A process whose main thread stands still for this long is ended by its watchdog, which writes down what it was busy ' +
      'with; 0 = never. A process that is suspended, or has no CPU, does not count.',
  ),
  HOOKRAIL_LOG_LEVEL: variable(
    as.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'info',
    'Log level. Logs are JSON lines on standard output, one per attempt at `info`.',
  ),
  ...CONSOLE_VARIABLES,
  ...WELL_KNOWN_VARIABLES,
  ...KAFKA_VARIABLES,
  ...POSTGRES_VARIABLES,
} as const;

/** Variables read elsewhere: by the simulator's commands and by the tests. */
const VARIABLES_OF_TOOLS = [
  'HOOKRAIL_BASE_URL',
  'HOOKRAIL_API_KEY',
  'HOOKRAIL_PRODUCER_KEY',
  'HOOKRAIL_MERCHANT_ID',
  'HOOKRAIL_TEST_CHROMIUM',
  'HOOKRAIL_TEST_KAFKA',
  'HOOKRAIL_TEST_KAFKA_BROKERS',
  'HOOKRAIL_TEST_SCHEMA_REGISTRY_URL',
  'HOOKRAIL_TEST_POSTGRES_URL',
  'HOOKRAIL_REQUIRE_',
] as const;

export type Config = ReturnType<typeof readConfig>;

/** Reads and checks the configuration. Throws ConfigError with one clear line. */
export function readConfig(given: Readonly<Record<string, string | undefined>>) {
  const ignored = serviceLinks(given);
  const environment = without(given, ignored);
  const values = readVariables(VARIABLES, VARIABLES_OF_TOOLS, environment);
  if (values.HOOKRAIL_ENVIRONMENT === 'production') refuseSandboxOnly(values, environment);
  const isSandbox = values.HOOKRAIL_ENVIRONMENT === 'sandbox';
  const roles = values.HOOKRAIL_ROLES;
  checkRoles(values.HOOKRAIL_ENGINE, values.HOOKRAIL_STORE, roles);
  const hasApi = roles.includes('api');
  const opensStore = hasApi || roles.includes('recorder');
  return {
    /** Variables that an orchestrator has set, not read. */
    ignored,
    environment: values.HOOKRAIL_ENVIRONMENT,
    engine: values.HOOKRAIL_ENGINE,
    /** Null with another engine. */
    kafka: values.HOOKRAIL_ENGINE === 'kafka' ? kafkaConfig(values, isSandbox) : null,
    /** Null with the store on SQLite. */
    postgres: values.HOOKRAIL_STORE === 'postgres' ? postgresConfig(values, { opensStore, hasApi }) : null,
    roles,
    dataDir: values.HOOKRAIL_DATA_DIR,
    operator: values.HOOKRAIL_OPERATOR,
    /** Whether the process keeps a database in the data directory. */
    keepsFiles: values.HOOKRAIL_ENGINE === 'sqlite' || (opensStore && values.HOOKRAIL_STORE === 'sqlite'),
    /** Routers and recorders neither seal nor open a secret: they run where no key ring is. */
    usesKeys: hasApi || roles.includes('sender'),
    operatorTokenFile: values.HOOKRAIL_OPERATOR_TOKEN_FILE,
    keyRingFile: values.HOOKRAIL_KEYRING || join(values.HOOKRAIL_DATA_DIR, 'keyring.json'),
    api: {
      host: values.HOOKRAIL_API_HOST,
      port: values.HOOKRAIL_API_PORT,
      names: values.HOOKRAIL_API_NAMES,
      ...rateLimits(values, isSandbox),
      endpointQuota: values.HOOKRAIL_ENDPOINT_QUOTA,
      streamsPerKey: values.HOOKRAIL_STREAMS_PER_KEY,
      trustedProxies: values.HOOKRAIL_TRUSTED_PROXIES,
      failedKeysPerMinute: values.HOOKRAIL_FAILED_KEYS_PER_MINUTE,
      ...consoleConfig(values),
      ...wellKnownConfig(values),
    },
    replayPerSecond: values.HOOKRAIL_REPLAY_PER_SECOND,
    operations: {
      host: values.HOOKRAIL_OPS_HOST,
      port: values.HOOKRAIL_OPS_PORT,
      names: values.HOOKRAIL_OPS_NAMES,
    },
    sender: {
      retryScale: values.HOOKRAIL_RETRY_SCALE,
      totalTimeoutMs: values.HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS * 1000,
      connectTimeoutMs: values.HOOKRAIL_CONNECT_TIMEOUT_SECONDS * 1000,
      inFlightMax: values.HOOKRAIL_SENDER_IN_FLIGHT,
    },
    egress: {
      allow: values.HOOKRAIL_EGRESS_ALLOW,
      ports: values.HOOKRAIL_EGRESS_PORTS,
      proxy: parseEgressProxy(values.HOOKRAIL_EGRESS_PROXY),
      extraCaFile: values.HOOKRAIL_EXTRA_CA_FILE,
    },
    ...retentionConfig(values),
    autoDisable: {
      withoutSuccessMs: (values.HOOKRAIL_AUTO_DISABLE_HOURS || (isSandbox ? 24 : 72)) * 3_600_000,
      failedAttempts: values.HOOKRAIL_AUTO_DISABLE_ATTEMPTS || (isSandbox ? 20 : 100),
    },
    stallMsMax: values.HOOKRAIL_STALL_SECONDS_MAX * 1000,
    logLevel: values.HOOKRAIL_LOG_LEVEL,
    tracing: tracingConfig(environment),
    /** Null without a variable that names one. */
    collector: collectorOf(environment),
  } as const;
}

/** Refuses settings in production that would weaken it. */
function refuseSandboxOnly(
  values: { HOOKRAIL_RETRY_SCALE: number },
  environment: Readonly<Record<string, string | undefined>>,
): void {
  if (values.HOOKRAIL_RETRY_SCALE !== 1)
    throw new ConfigError('HOOKRAIL_RETRY_SCALE is for the sandbox only: unset it');
  for (const name of ['HOOKRAIL_EGRESS_ALLOW', 'HOOKRAIL_EXTRA_CA_FILE']) {
    if (environment[name]) throw new ConfigError(`${name} is for the sandbox only: unset it in production`);
  }
}
