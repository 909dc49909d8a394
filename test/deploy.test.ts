/**
 * Dockerfile and docker-compose.yml agree with the program: names and values of variables, roles, ports, versions, files.
 * That needs no Docker; whether they run is tried by hand.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { topicSpecs } from '../services/broker/kafka/topics/topics.ts';
import { readConfig } from '../services/config/config.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly scale?: number;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly profiles?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly stop_grace_period?: string;
}

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const exists = (path: string) => existsSync(new URL(`../${path}`, import.meta.url));

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
  volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('hookrail:'));
const kafkas = services.filter(([, { image }]) => image.startsWith('apache/kafka:'));
const packageJson = JSON.parse(read('package.json'));

/** A line that is continued is one instruction. */
const instructions = read('Dockerfile')
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ name: line.split(' ', 1)[0] ?? '', text: line.slice(line.indexOf(' ') + 1) }));
const instructed = (name: string) =>
  instructions.filter((each) => each.name === name).map((each) => each.text);
const imageEnvironment = Object.fromEntries(
  instructed('ENV').flatMap((text) => text.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
);

/** What a container's process sees: the image's variables, then the service's, `${NAME:-default}` without NAME. */
function environmentOf(service: Service): Record<string, string> {
  const given = Object.entries(service.environment ?? {}).map(([name, value]) => [
    name,
    String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
  ]);
  return { ...imageEnvironment, ...Object.fromEntries(given) };
}

/** Those that run the service itself, not another program of the image. */
const processes = ours
  .filter(([, { entrypoint }]) => entrypoint === undefined)
  .map(([name, service]) => ({ name, service, config: readConfig(environmentOf(service)) }));

describe('the Docker image', () => {
  test('is based on one pinned Node that the package accepts', () => {
    const bases = instructed('FROM').map((text) => text.split(' ')[0]);
    expect(new Set(bases).size).toBe(1);
    const [, major, minor] = /^node:(\d+)\.(\d+)\.\d+-bookworm-slim$/.exec(bases[0] ?? '') ?? [];
    const [, majorMin, minorMin] = /^>=(\d+)\.(\d+)$/.exec(packageJson.engines.node) ?? [];
    expect(Number(major)).toBe(Number(majorMin));
    expect(Number(minor)).toBeGreaterThanOrEqual(Number(minorMin));
  });

  test('sets variables that the service knows, and listens where a container is reached', () => {
    const config = readConfig({ ...imageEnvironment, NODE_ENV: undefined });
    expect([config.api.host, config.operations.host]).toEqual(['0.0.0.0', '0.0.0.0']);
    expect(instructed('EXPOSE')).toEqual([`${config.api.port} ${config.operations.port}`]);
  });

  test('owns the folders it writes to, and does not run as root', () => {
    const config = readConfig(imageEnvironment);
    const [folders = ''] = instructed('RUN').filter((text) => text.startsWith('install -d -o node '));
    expect(folders.split(' ')).toContain(config.dataDir);
    expect(folders.split(' ')).toContain(config.keyRingFile.replace(/\/[^/]+$/, ''));
    expect(instructed('USER')).toEqual(['node']);
  });

  test('starts and checks programs that a build makes', () => {
    const [entrypoint = '[]'] = instructed('ENTRYPOINT');
    const [node, program] = JSON.parse(entrypoint) as string[];
    expect(node).toBe('node');
    expect(sourceOf(program)).toSatisfy(exists);
    expect(instructed('HEALTHCHECK').join()).toContain('/livez');
    expect(instructed('STOPSIGNAL')).toEqual(['SIGTERM']);
  });

  test('gets every file it copies, and no other', () => {
    const copied = instructed('COPY')
      .filter((text) => !text.startsWith('--from='))
      .flatMap((text) => text.split(' ').slice(0, -1))
      .map((path) => path.replace(/^\.\//, ''));
    const [first, ...rest] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rest.map((line) => line.slice(1)).sort()).toEqual(copied.sort());
    for (const path of copied) expect(path).toSatisfy(exists);
    const built = read('scripts/build.mjs');
    for (const path of ['schemas', 'openapi.yaml', 'services', 'simulator']) {
      expect(built).toContain(path);
      expect(copied).toContain(path);
    }
  });
});

describe('docker-compose.yml', () => {
  test('gives every process a configuration that is accepted, for Kafka', () => {
    for (const { config } of processes) {
      expect(config).toMatchObject({ engine: 'kafka', environment: 'sandbox', sender: { retryScale: 1 } });
      expect(config.kafka?.brokers).toEqual(kafkas.map(([name]) => `${name}:9092`));
      expect(config.kafka?.registry.url).toBe('http://registry:8080/apis/ccompat/v7');
    }
  });

  test('runs one api with the recorder, two routers and two senders', () => {
    const roles = processes.map(({ service, config }) => [config.roles.join(), service.scale ?? 1]);
    expect(Object.fromEntries(roles)).toEqual({ 'api,recorder': 1, router: 2, sender: 2 });
  });

  test('pins every image, with Kafka and registry as in npm run kafka:local', () => {
    const versions = new Map<string, Set<string>>();
    for (const [, { image }] of services) {
      const [name = '', version = ''] = image.split(':');
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      versions.set(name, (versions.get(name) ?? new Set()).add(version));
    }
    const local = read('scripts/local-kafka/artifacts.ts');
    const [, kafka] = /const KAFKA = '([^']+)'/.exec(local) ?? [];
    const [, apicurio] = /const APICURIO = '([^']+)'/.exec(local) ?? [];
    expect(Object.fromEntries([...versions].map(([name, found]) => [name, [...found].join()]))).toEqual({
      hookrail: packageJson.version,
      'apache/kafka': kafka,
      'apicurio/apicurio-registry': apicurio,
    });
  });

  test('publishes ports on this machine alone, each once, and only those that are listened on', () => {
    const published = services.flatMap(([, { ports }]) => ports ?? []);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(new Set(published.map((port) => port.split(':')[1])).size).toBe(published.length);
    const api = processes.find(({ name }) => name === 'api');
    expect(api?.service.ports?.map((port) => Number(port.split(':')[2]))).toEqual([
      api?.config.api.port,
      api?.config.operations.port,
    ]);
  });

  test('starts a process when brokers, registry, key ring and authority are there', () => {
    const needed = [...kafkas.map(([name]) => name), 'registry'];
    for (const { service } of processes) {
      expect(service.depends_on?.setup?.condition).toBe('service_completed_successfully');
      for (const name of needed) {
        expect(service.depends_on?.[name]?.condition).toBe('service_healthy');
        expect(compose.services[name]?.healthcheck?.test?.length).toBeGreaterThan(1);
      }
    }
  });

  test('has the key ring and the authority written by their makers, and read by every process', () => {
    for (const { service, config } of processes) {
      for (const file of [config.keyRingFile, config.egress.extraCaFile]) {
        const folder = file.replace(/\/[^/]+$/, '');
        const mounted = service.volumes?.find((volume) => volume.split(':')[1] === folder);
        expect(mounted).toMatch(/:ro$/);
        expect(compose.services.setup?.volumes).toContain(mounted?.replace(/:ro$/, ''));
      }
    }
    const makes = compose.services.setup?.command?.join() ?? '';
    for (const program of makes.match(/dist\/\S+\.js/g) ?? []) expect(sourceOf(program)).toSatisfy(exists);
    expect(makes).toContain('keyring create');
    expect(makes).toContain('/var/lib/hookrail/authority');
  });

  test('gives the data to the api only, and declares every volume', () => {
    const mounts = services.flatMap(([name, { volumes = [] }]) =>
      volumes.map((volume) => [volume.split(':')[0] ?? '', name] as const),
    );
    expect(mounts.filter(([volume]) => volume === 'data')).toEqual([['data', 'api']]);
    expect(new Set(mounts.map(([volume]) => volume))).toEqual(new Set(Object.keys(compose.volumes)));
  });

  test('lets a stop take longer than an attempt and its settlement', () => {
    const settleSeconds = 5;
    for (const { service, config } of processes) {
      const graceSeconds = Number(/^(\d+)s$/.exec(service.stop_grace_period ?? '')?.[1]);
      expect(graceSeconds).toBeGreaterThan(config.sender.totalTimeoutMs / 1000 + settleSeconds);
    }
  });

  test('lets requests be sent to its own receiver only', () => {
    const { command = [], profiles } = compose.services.receiver ?? {};
    for (const { config } of processes)
      expect(config.egress.allow).toBe(command[command.indexOf('--host') + 1]);
    expect(profiles).toEqual(['try']);
  });

  test('lets its simulator reach the services that the processes use', () => {
    const { HOOKRAIL_BASE_URL, HOOKRAIL_DATA_DIR, ...kafka } = compose.services.receiver?.environment ?? {};
    for (const { service, config } of processes) {
      expect(service.environment).toMatchObject(kafka);
      expect(config.egress.extraCaFile).toBe(`${HOOKRAIL_DATA_DIR}/ca.crt`);
      if (config.roles.includes('api')) expect(HOOKRAIL_BASE_URL).toBe(`http://api:${config.api.port}`);
    }
    expect(Object.keys(kafka)).toEqual(['HOOKRAIL_KAFKA_BROKERS', 'HOOKRAIL_SCHEMA_REGISTRY_URL']);
  });
});

describe('the brokers of docker-compose.yml', () => {
  const settings = kafkas.map(
    ([name, service]) => ({ name, ...service.environment }) as Record<string, unknown>,
  );

  test('are three, and keep what one of them loses', () => {
    expect(settings.map(({ KAFKA_NODE_ID }) => KAFKA_NODE_ID)).toEqual([1, 2, 3]);
    const voters = settings.map(({ name, KAFKA_NODE_ID }) => `${KAFKA_NODE_ID}@${name}:9093`).join();
    for (const broker of settings) {
      expect(broker).toMatchObject({
        KAFKA_CONTROLLER_QUORUM_VOTERS: voters,
        KAFKA_DEFAULT_REPLICATION_FACTOR: 3,
        KAFKA_MIN_INSYNC_REPLICAS: 2,
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 3,
        KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
        KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: 'false',
      });
    }
  });

  test('are advertised under addresses that lead to them', () => {
    for (const [name, { environment = {}, ports = [] }] of kafkas) {
      const [published = ''] = ports;
      const [host, port, inside] = published.split(':');
      expect(environment.KAFKA_ADVERTISED_LISTENERS).toBe(`BROKER://${name}:9092,HOST://${host}:${port}`);
      expect(environment.KAFKA_LISTENERS).toContain(`HOST://0.0.0.0:${inside}`);
    }
  });

  test('keep offsets longer than records', () => {
    const specs = topicSpecs({ topicPrefix: 'wh.', eventsTopic: 'payments.events', partitions: {} }, 3);
    const longestMs = Math.max(...specs.map((spec) => Number(spec.settings['retention.ms'] ?? 0)));
    expect(longestMs).toBeGreaterThan(0);
    for (const broker of settings) {
      expect(Number(broker.KAFKA_OFFSETS_RETENTION_MINUTES) * 60_000).toBeGreaterThan(longestMs);
    }
  });

  test('keep their data, each in a volume of its own', () => {
    for (const [name, { environment = {}, volumes = [] }] of kafkas) {
      expect(volumes).toEqual([`${name}:${environment.KAFKA_LOG_DIRS}`]);
    }
  });
});

/** The source of a program in dist, which need not be built for these tests. */
function sourceOf(program = ''): string {
  return program.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}
