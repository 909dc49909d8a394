/** The parts of the project, and which may import which. */
import { DOMAIN, type Part } from './part.ts';
import { PROGRAMS } from './programs.ts';

const FOUNDATION = ['process', 'the log', 'foundation'];
const STATION_MAY = [...DOMAIN, 'messages', ...FOUNDATION, 'codec', 'the broker port', 'the store port'];
const STATION_INSTEAD =
  'A station knows the domain, the foundation, the codecs and the two ports: pass what it needs in from ' +
  'services/main.ts, or let it travel on a stream.';
const STORE_ENGINE_MAY = [
  ...['domain', 'messages', ...FOUNDATION, 'the SQLite floor', 'codec'],
  ...['the store port', 'the statement port', 'the store rules', 'what store engines share'],
];
const BROKER_ENGINES = ['the SQLite broker', 'the Kafka broker'];
const BROKER_ENGINE_MAY = [
  ...['domain', 'messages', ...FOUNDATION, 'codec'],
  ...['the broker port', 'what broker engines share'],
];
const ENGINE_INSTEAD =
  'An engine knows the domain, the foundation, the codecs and its own port, so that another engine can take its place.';

const BLAME_INSTEAD =
  'It knows clocks and turns of the event loop, and nothing of lanes or HTTP: pass the value in. The rest of the ' +
  'sender asks services/sender/blame/blame.ts, and nobody else asks.';

const station = (name: string): Part => ({
  name: `the ${name} station`,
  files: new RegExp(`^services/${name}/`),
  parts: [
    ...[...STATION_MAY, 'the count of a replay'],
    ...(name === 'sender' ? ['the blame of receivers'] : []),
    ...(name === 'api' ? ['the management'] : []),
  ],
  instead: STATION_INSTEAD,
});

const STATIONS = ['api', 'router', 'sender', 'recorder', 'relay', 'replayer', 'notifier'] as const;

export const PARTS: readonly Part[] = [
  {
    name: 'the samples',
    files: /^services\/samples\//,
    parts: ['domain'],
    packages: ['node:crypto', '@noble/hashes', '@scure/base'],
    instead: 'Samples are pure and deterministic: pass in what they need.',
  },
  {
    name: 'domain',
    files: /^services\/domain\//,
    parts: [],
    packages: ['node:crypto'],
    instead:
      'The domain is pure: no I/O, no clock, no process, no engine. Move the code out or pass the value in.',
  },
  {
    name: 'messages',
    files: /^services\/messages\//,
    parts: [],
    packages: ['fastest-levenshtein', 'yargs'],
    instead: 'It words what people are told, and knows nothing of ours: pass in the names and values.',
  },
  {
    // How a process runs: clock, lifecycle, deadlines, descriptors and output.
    name: 'process',
    files: /^services\/process\//,
    parts: ['messages'],
    instead: 'It is the floor of the services, and knows nothing else of ours: pass the value in.',
  },
  {
    // The log itself and the words of an outage in it: apart from the foundation, which knows settings.
    name: 'the log',
    files: /^services\/telemetry\/(logger|outage)\.ts$/,
    parts: ['process'],
    packages: ['pino', 'prom-client'],
    instead: 'Whoever writes into the log passes in what it says.',
  },
  {
    // Settings, keys, egress rules, logs, traces and the watchdog.
    name: 'foundation',
    files: /^services\/(config|keys|egress|telemetry|watchdog)\//,
    parts: ['messages', 'process', 'the log'],
    instead:
      'Config, keys, egress, telemetry and watchdog know nothing of webhooks: pass the value in, or move the code to the station that ' +
      'needs it.',
  },
  {
    name: 'the SQLite floor',
    files: /^services\/sqlite\//,
    parts: ['messages', ...FOUNDATION],
    packages: ['better-sqlite3', 'node:crypto', 'node:fs', 'node:path'],
    instead: 'It knows files, locks and ids, and no table: what is stored belongs to the engines.',
  },
  {
    name: 'the Kafka client',
    files: /^services\/kafka-client\//,
    parts: ['messages', 'process', 'the log'],
    packages: [
      ...['kafkajs', 'lz4-napi', 'fzstd', 'snappyjs', '@node-rs/crc32'],
      ...['node:module', 'node:worker_threads', 'node:zlib'],
      'undici', // asks for access tokens
    ],
    instead:
      'It knows brokers, topics and records, and nothing of webhooks or of our settings: pass the value in, or move ' +
      'the code to the engine in services/broker/kafka.',
  },
  {
    name: 'codec',
    files: /^services\/codec\//,
    parts: ['domain', 'messages', 'schemas'],
    instead: 'Codecs turn the domain into bytes and back, and know nothing else of ours.',
  },
  {
    name: 'the broker port',
    files:
      /^services\/broker\/(broker|broker-status|clear-text|inline|losses|publish|quarantine-find|stalls)\.ts$/,
    parts: ['domain'],
    packages: [],
    instead: 'A port speaks of the domain only, so that any engine can stand behind it.',
  },
  {
    name: 'the store chooser',
    files: /^services\/store\/open\.ts$/,
    parts: ['messages', ...FOUNDATION, 'the store port', 'a store engine'],
    instead: 'It chooses an engine and does nothing else.',
  },
  {
    name: 'the store copy',
    files: /^services\/store\/copy\//,
    parts: [...STORE_ENGINE_MAY, 'a store engine'],
    instead: 'It reads one engine and fills another; a service uses one of them, by the port.',
  },
  {
    name: 'the statement port',
    files: /^services\/store\/sql\//,
    parts: ['domain'],
    packages: [],
    instead: 'It says how statements are run, and what an engine does in its own way.',
  },
  {
    name: 'the store rules',
    files: /^services\/store\/rules\//,
    parts: ['domain', 'the store port', 'the statement port', 'what store engines share'],
    packages: ['node:crypto'],
    instead:
      'Rules are the same in every store: what a database does in its own way is a part of the statement port.',
  },
  {
    name: 'what store engines share',
    files: /^services\/store\/(log\/|rows\/|used-keys\.ts$)/,
    parts: ['domain', ...FOUNDATION, 'the store port'],
    packages: [],
    instead: 'What engines share knows no engine: pass in what it needs.',
  },
  {
    name: 'the store port',
    files: /^services\/store\/[^/]+\.ts$/,
    parts: ['domain'],
    packages: [],
    instead: 'A port speaks of the domain only, so that any engine can stand behind it.',
  },
  {
    name: 'what broker engines share',
    files: /^services\/broker\/(work|work-source|work-consumer|due-heap|journal-work|parked-tally)\.ts$/,
    parts: ['domain', ...FOUNDATION, 'the broker port'],
    packages: [],
    instead: 'What engines share knows no engine: pass in what it needs.',
  },
  {
    name: 'the broker chooser',
    files: /^services\/broker\/open\.ts$/,
    parts: ['domain', ...FOUNDATION, 'codec', 'the broker port', ...BROKER_ENGINES],
    instead: 'It chooses an engine and does nothing else.',
  },
  {
    name: 'the SQLite broker',
    files: /^services\/broker\/sqlite\//,
    parts: [...BROKER_ENGINE_MAY, 'the SQLite floor'],
    instead: ENGINE_INSTEAD,
  },
  {
    name: 'the Kafka broker',
    files: /^services\/broker\/kafka\//,
    parts: [...BROKER_ENGINE_MAY, 'the Kafka client', 'schemas'],
    instead: ENGINE_INSTEAD,
  },
  {
    name: 'a store engine',
    files: /^services\/store\/[^/]+\//,
    parts: STORE_ENGINE_MAY,
    instead: ENGINE_INSTEAD,
  },
  {
    // Asked for by the api and the operator before a replay starts, and by the replayer.
    name: 'the count of a replay',
    files: /^services\/replayer\/count-missed\.ts$/,
    parts: STATION_MAY,
    instead: STATION_INSTEAD,
  },
  {
    // Whether time was a receiver's or ours: one file asks, the others measure.
    name: 'the blame of receivers',
    files: /^services\/sender\/blame\/blame\.ts$/,
    parts: ['process', 'how time is blamed'],
    packages: [],
    instead: BLAME_INSTEAD,
  },
  {
    name: 'how time is blamed',
    files: /^services\/sender\/blame\//,
    parts: ['process'],
    packages: [],
    instead: BLAME_INSTEAD,
  },
  {
    name: 'the management',
    files: /^services\/management\//,
    parts: [...STATION_MAY, 'the count of a replay'],
    packages: [],
    instead:
      'It has the rules of what an operator and the platform may do: how it is asked for and answered belongs to the ' +
      'commands and the routes.',
  },
  ...STATIONS.map(station),
  {
    name: 'observability',
    files: /^services\/observability\//,
    parts: [...DOMAIN, ...FOUNDATION, 'the broker port', 'the store port'],
    instead: 'It reads what the ports say of themselves: pass in what it needs.',
  },
  {
    name: 'the wiring',
    files: /^services\/(main|hookrail|api-jobs|recording|watch|data-files)\.ts$/,
    parts: [
      'the wiring',
      ...STATION_MAY,
      'the SQLite floor',
      'observability',
      'the broker chooser',
      'the store chooser',
      'the operator commands',
      "the operator's console",
      ...STATIONS.map((name) => `the ${name} station`),
    ],
    instead: 'Only services/broker/open.ts and services/store/open.ts choose engines; main.ts asks them.',
  },
  {
    name: 'the operator commands',
    files: /^services\/operator\/commands\//,
    parts: [...STATION_MAY, 'the api station', 'the count of a replay', 'the management'],
    instead: 'Commands run in the service: they know what a station knows.',
  },
  {
    name: "the operator's console",
    files: /^services\/operator\/console\//,
    parts: [...STATION_MAY, 'the api station', 'the operator commands'],
    instead: 'It gives commands in the service, and has none of its own.',
  },
  {
    name: 'the operator',
    files: /^services\/operator(\.ts$|\/)/,
    parts: [
      ...STATION_MAY,
      'the broker chooser',
      'the store chooser',
      'the store copy',
      'the operator commands',
      'the management',
      'the api station',
    ],
    instead:
      'services/broker/open.ts and services/store/open.ts choose engines, and only services/main.ts wires stations.',
  },
  ...PROGRAMS,
  { name: 'schemas', files: /^schemas\//, parts: [], instead: 'Schemas are data.' },
  { name: 'the runbook', files: /^docs\/operate\/README\.md$/, parts: [], instead: 'It is text.' },
];
