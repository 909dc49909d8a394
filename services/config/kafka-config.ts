import { createSecureContext } from 'node:tls';
import { SASL_VARIABLES, saslOptions } from './kafka-sasl.ts';
import { certificate, readPem } from './pem-file.ts';
import { as, ConfigError, Malformed, togetherOrNot, type Values, variable } from './variables.ts';

/** The characters of a Kafka topic name. */
const NAME = /^[A-Za-z0-9._-]*$/;
/** A limit that leaves room for any topic's own name within Kafka's 249 characters. */
const NAME_LENGTH_MAX = 200;
const PARTITIONS_MAX = 10_000;

/** Given instead of a file's name. */
const PUBLIC_AUTHORITIES = 'public';

function asBroker(text: string): string {
  const [, port] = /^[A-Za-z0-9._-]+:(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new Malformed('must be a comma-separated list of host:port, e.g. kafka-1:9092,kafka-2:9092');
  }
  return text;
}

/** Checks a URL and drops trailing slashes. Refuses credentials, which would end up in logs: they have variables. */
function asRegistryUrl(text: string): string {
  if (text === '') return text;
  if (text.includes('@')) {
    throw new ConfigError(
      'HOOKRAIL_SCHEMA_REGISTRY_URL must not hold credentials: give them as HOOKRAIL_SCHEMA_REGISTRY_USERNAME and HOOKRAIL_SCHEMA_REGISTRY_PASSWORD',
    );
  }
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new Malformed('must be an http or https URL');
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

function asTopicName(text: string): string {
  if (!NAME.test(text) || text.length > NAME_LENGTH_MAX) {
    throw new Malformed(
      `must consist of letters, digits, dots, underscores and hyphens, at most ${NAME_LENGTH_MAX}`,
    );
  }
  return text;
}

function asPartitions(text: string): readonly [topic: string, count: number] {
  const [, topic, count] = /^([a-z0-9.]+)=(\d+)$/.exec(text) ?? [];
  if (topic === undefined || Number(count) < 1 || Number(count) > PARTITIONS_MAX) {
    throw new Malformed(
      `must be a comma-separated list of topic=count without the prefix, e.g. deliver=48,retry.3s=48, counts from 1 to ${PARTITIONS_MAX}`,
    );
  }
  return [topic, Number(count)];
}

/** The variables of the `kafka` engine. Ignored with another engine, so that one file of variables serves both. */
export const KAFKA_VARIABLES = {
  HOOKRAIL_KAFKA_BROKERS: variable(
    as.list(asBroker),
    [],
    'Kafka bootstrap brokers, host:port, comma-separated. Required with the `kafka` engine.',
  ),
  HOOKRAIL_KAFKA_TLS: variable(
    as.boolean,
    false,
    'Whether to use TLS to the brokers. In production a start without it warns, unless all are on this machine.',
  ),
  HOOKRAIL_KAFKA_TLS_CA_FILE: variable(
    as.text,
    '',
    'PEM file of the authorities that sign the brokers’ certificates. Empty: the public ones.',
  ),
  HOOKRAIL_KAFKA_TLS_CERT_FILE: variable(as.text, '', 'PEM file of the client certificate, for mutual TLS.'),
  HOOKRAIL_KAFKA_TLS_KEY_FILE: variable(as.text, '', 'PEM file of that certificate’s key.'),
  ...SASL_VARIABLES,
  HOOKRAIL_SCHEMA_REGISTRY_URL: variable(
    asRegistryUrl,
    '',
    'URL of the Confluent-compatible schema registry. Required with the `kafka` engine.',
  ),
  HOOKRAIL_SCHEMA_REGISTRY_USERNAME: variable(as.text, '', 'User name for the registry, if it requires one.'),
  HOOKRAIL_SCHEMA_REGISTRY_PASSWORD: variable(as.text, '', 'Password of that user.'),
  HOOKRAIL_SCHEMA_REGISTRY_CA_FILE: variable(
    as.text,
    '',
    'PEM file of the authorities that sign the registry’s certificate; `public`: the public ones. Empty: as `HOOKRAIL_KAFKA_TLS_CA_FILE`.',
  ),
  HOOKRAIL_SCHEMA_REGISTRY_REGISTER: variable(
    (text) => (text === '' ? '' : as.boolean(text)),
    '',
    'Whether hookrail may register missing schemas; `hookrail operator schemas` prints them. Empty: as `HOOKRAIL_KAFKA_CREATE_TOPICS`.',
  ),
  HOOKRAIL_EVENTS_TOPIC: variable(
    asTopicName,
    'payments.events',
    'Topic of the platform’s domain events. hookrail creates it in the sandbox only.',
  ),
  HOOKRAIL_TOPIC_PREFIX: variable(asTopicName, 'wh.', 'Prefix of hookrail’s own topics and consumer groups.'),
  HOOKRAIL_KAFKA_CREATE_TOPICS: variable(
    as.boolean,
    true,
    'Whether hookrail may create missing topics. They are verified at every start in any case.',
  ),
  HOOKRAIL_KAFKA_PARTITIONS: variable(
    as.list(asPartitions),
    [],
    'Partition counts that differ from the defaults, such as `deliver=48,retry.3s=48`, without the prefix. Fixed once a topic exists.',
  ),
  HOOKRAIL_KAFKA_REPLICATION_FACTOR: variable(
    as.integer(0, 9),
    0,
    'Replicas of each partition; 0 = 3, in the sandbox at most the number of brokers.',
  ),
  HOOKRAIL_REPEAT_WINDOW_SECONDS: variable(
    as.integer(60, 86_400),
    3600,
    'How long a router recognises an event id, in the time of the events topic’s records.',
  ),
  HOOKRAIL_REPEAT_WINDOW_IDS: variable(
    as.integer(1000, 20_000_000),
    1_000_000,
    'How many event ids a router process remembers at most, about 35 bytes each; the oldest are forgotten first.',
  ),
} as const;

export type KafkaConfig = ReturnType<typeof kafkaConfig>;

/** PEM texts for TLS with the brokers. Null = the system's default, or not used. */
interface TlsOptions {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

/** Checks the variables against each other. Throws ConfigError with one clear line. */
export function kafkaConfig(values: Values<typeof KAFKA_VARIABLES>, isSandbox: boolean) {
  needed(values.HOOKRAIL_KAFKA_BROKERS.length > 0, 'HOOKRAIL_KAFKA_BROKERS', 'host:port, comma-separated');
  needed(
    values.HOOKRAIL_SCHEMA_REGISTRY_URL !== '',
    'HOOKRAIL_SCHEMA_REGISTRY_URL',
    'the http or https URL of the registry',
  );
  needed(values.HOOKRAIL_EVENTS_TOPIC !== '', 'HOOKRAIL_EVENTS_TOPIC', 'the name of the domain events topic');
  togetherOrNot(values, 'HOOKRAIL_SCHEMA_REGISTRY_USERNAME', 'HOOKRAIL_SCHEMA_REGISTRY_PASSWORD');
  const username = values.HOOKRAIL_SCHEMA_REGISTRY_USERNAME;
  return {
    brokers: values.HOOKRAIL_KAFKA_BROKERS,
    /** Paths of PEM files, '' = none; null = no TLS. `readTlsFiles` reads them. */
    tls: tlsFiles(values),
    sasl: saslOptions(values),
    registry: {
      url: values.HOOKRAIL_SCHEMA_REGISTRY_URL,
      credentials: username === '' ? null : { username, password: values.HOOKRAIL_SCHEMA_REGISTRY_PASSWORD },
      caFile: registryCaFile(values),
      /** Whether missing schemas may be registered; existing ones are looked up in any case. */
      mayRegister:
        values.HOOKRAIL_SCHEMA_REGISTRY_REGISTER === ''
          ? values.HOOKRAIL_KAFKA_CREATE_TOPICS
          : values.HOOKRAIL_SCHEMA_REGISTRY_REGISTER,
    },
    eventsTopic: values.HOOKRAIL_EVENTS_TOPIC,
    topicPrefix: values.HOOKRAIL_TOPIC_PREFIX,
    createTopics: values.HOOKRAIL_KAFKA_CREATE_TOPICS,
    /** Counts by topic name without the prefix. */
    partitions: partitionCounts(values.HOOKRAIL_KAFKA_PARTITIONS),
    /** Null = as many as the cluster has brokers, at most 3. */
    replicationFactor: values.HOOKRAIL_KAFKA_REPLICATION_FACTOR || (isSandbox ? null : 3),
    /** Limits for recognising an event that is sent again. */
    repeats: {
      windowMs: values.HOOKRAIL_REPEAT_WINDOW_SECONDS * 1000,
      idsMax: values.HOOKRAIL_REPEAT_WINDOW_IDS,
    },
  } as const;
}

function needed(isGiven: boolean, name: string, what: string): void {
  if (!isGiven) throw new ConfigError(`${name} is required with HOOKRAIL_ENGINE=kafka: set it to ${what}`);
}

function tlsFiles(values: Values<typeof KAFKA_VARIABLES>) {
  togetherOrNot(values, 'HOOKRAIL_KAFKA_TLS_CERT_FILE', 'HOOKRAIL_KAFKA_TLS_KEY_FILE');
  const names = ['HOOKRAIL_KAFKA_TLS_CA_FILE', 'HOOKRAIL_KAFKA_TLS_CERT_FILE'] as const;
  const given = names.find((name) => values[name] !== '');
  // A configured certificate shows that the connection is meant to be protected.
  if (given !== undefined && !values.HOOKRAIL_KAFKA_TLS) {
    throw new ConfigError(`${given} is set, but HOOKRAIL_KAFKA_TLS is not true: set it, or unset the file`);
  }
  if (!values.HOOKRAIL_KAFKA_TLS) return null;
  return {
    caFile: values.HOOKRAIL_KAFKA_TLS_CA_FILE,
    certFile: values.HOOKRAIL_KAFKA_TLS_CERT_FILE,
    keyFile: values.HOOKRAIL_KAFKA_TLS_KEY_FILE,
  } as const;
}

/** Path of a PEM file; null = the public authorities. */
function registryCaFile(values: Values<typeof KAFKA_VARIABLES>): string | null {
  const file = values.HOOKRAIL_SCHEMA_REGISTRY_CA_FILE;
  if (file === '') return values.HOOKRAIL_KAFKA_TLS_CA_FILE || null;
  if (!values.HOOKRAIL_SCHEMA_REGISTRY_URL.startsWith('https:')) {
    throw new ConfigError(
      'HOOKRAIL_SCHEMA_REGISTRY_CA_FILE is set, but HOOKRAIL_SCHEMA_REGISTRY_URL is not https: correct it, or unset the file',
    );
  }
  return file === PUBLIC_AUTHORITIES ? null : file;
}

function partitionCounts(pairs: readonly (readonly [string, number])[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.create(null);
  for (const [topic, count] of pairs) {
    if (topic in counts) throw new ConfigError(`HOOKRAIL_KAFKA_PARTITIONS names ${topic} twice`);
    counts[topic] = count;
  }
  return counts;
}

/** Reads the PEM files. Throws ConfigError, naming the variable, for a file that cannot be read or is not PEM. */
export function readTlsFiles(files: KafkaConfig['tls']): TlsOptions | null {
  if (files === null) return null;
  const ca = readPem('HOOKRAIL_KAFKA_TLS_CA_FILE', files.caFile, certificate);
  const cert = readPem('HOOKRAIL_KAFKA_TLS_CERT_FILE', files.certFile, certificate);
  const key = readPem('HOOKRAIL_KAFKA_TLS_KEY_FILE', files.keyFile, (pem) =>
    createSecureContext({ cert: cert ?? '', key: pem }),
  );
  return { ca, cert, key };
}

/** Reads the PEM file of the registry's authorities. Throws ConfigError when it cannot be read or is not PEM. */
export function readRegistryCa({ caFile }: Pick<KafkaConfig['registry'], 'caFile'>): string | null {
  return readPem('HOOKRAIL_SCHEMA_REGISTRY_CA_FILE', caFile ?? '', certificate);
}
