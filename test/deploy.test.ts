/**
 * Dockerfile and docker-compose.yml agree with the program: names and values of variables, roles, ports, versions, files.
 * That needs no Docker; whether they run is tried by hand.
 */
import { describe, expect, test } from 'vitest';
import { readConfig } from '../services/config/config.ts';
import {
  compose,
  exists,
  imageEnvironment,
  instructed,
  kafkas,
  packageJson,
  processes,
  read,
  script,
  services,
  sourceOf,
} from './support/deployment.ts';

describe('the Docker image', () => {
  test('is based on the Node of the lock file', () => {
    const bases = instructed('FROM').map((text) => text.split(' ')[0]);
    expect(new Set(bases).size).toBe(1);
    const [, version] =
      /^node:(\d+\.\d+\.\d+)-bookworm-slim(?:@sha256:[0-9a-f]{64})?$/.exec(bases[0] ?? '') ?? [];
    expect(new Set(Object.values(packageJson.optionalDependencies))).toEqual(new Set([version]));
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
    const [, sources = ''] = /^const SOURCES = (\[[^\]]*\]);$/m.exec(read('bin/checkout/build.mjs')) ?? [];
    expect(copied).toEqual(
      expect.arrayContaining([...sources.matchAll(/'([^']+)'/g)].map(([, name]) => name)),
    );
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

  test('runs two apis, two recorders, two routers and two senders', () => {
    const roles = processes.map(({ service, config }) => [config.roles.join(), service.scale ?? 1]);
    expect(Object.fromEntries(roles)).toEqual({ api: 2, recorder: 2, router: 2, sender: 2 });
  });

  test('pins every image, with Kafka and registry as in npm run kafka:local', () => {
    const versions = new Map<string, Set<string>>();
    for (const [, { image }] of services) {
      const [name = '', version = ''] = image.split(':');
      expect(version).toMatch(name === 'postgres' ? /^\d+\.\d+$/ : /^\d+\.\d+\.\d+$/);
      versions.set(name, (versions.get(name) ?? new Set()).add(version));
    }
    const local = read('scripts/local-kafka/artifacts.ts');
    const [, kafka] = /const KAFKA = '([^']+)'/.exec(local) ?? [];
    const [, apicurio] = /const APICURIO = '([^']+)'/.exec(local) ?? [];
    const [, postgresMin] =
      /const VERSION_MIN = (\d+)/.exec(read('scripts/local-postgres/binaries.ts')) ?? [];
    const found = Object.fromEntries([...versions].map(([name, each]) => [name, [...each].join()]));
    expect(found).toEqual({
      hookrail: packageJson.version,
      'apache/kafka': kafka,
      'apicurio/apicurio-registry': apicurio,
      postgres: expect.any(String),
      haproxy: expect.any(String),
    });
    expect(Number.parseInt(found.postgres ?? '', 10)).toBeGreaterThanOrEqual(Number(postgresMin));
  });

  test('publishes ports on this machine alone, each once, and only those that are listened on', () => {
    const published = services.flatMap(([, { ports }]) => ports ?? []);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(new Set(published.map((port) => port.split(':')[1])).size).toBe(published.length);
    for (const { service } of processes) expect(service.ports).toBeUndefined();
  });

  test('publishes one address for the API, behind which a proxy asks which apis run', () => {
    const api = processes.find(({ name }) => name === 'api');
    const { ports = [] } = compose.services.proxy ?? {};
    expect(ports).toEqual([`127.0.0.1:${api?.config.api.port}:8080`]);
    const settings = script('proxy');
    expect(settings).toContain('bind :8080\n');
    expect(settings).toContain(`server-template api 8 api:${api?.config.api.port}\n`);
    expect(settings).toContain(`check port ${api?.config.operations.port} `);
    expect(settings).toContain('GET /livez\n');
  });

  test('keeps what a container may do small: no other privileges, a read-only root, a limit of memory', () => {
    for (const [name, service] of services) {
      const security_opt = ['no-new-privileges:true'];
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt });
      expect(service, name).not.toHaveProperty('cap_add');
      expect(service, name).not.toHaveProperty('privileged');
      expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
    }
  });

  test('starts a process when brokers, registry, key ring and authority are there', () => {
    const needed = [...kafkas.map(([name]) => name), 'registry'];
    for (const { service, config } of processes) {
      const migrated = config.postgres ? 'service_completed_successfully' : undefined;
      expect(service.depends_on?.migrate?.condition).toBe(migrated);
      expect(service.depends_on?.setup?.condition).toBe('service_completed_successfully');
      for (const name of needed) {
        expect(service.depends_on?.[name]?.condition).toBe('service_healthy');
        expect(compose.services[name]?.healthcheck?.test?.length).toBeGreaterThan(1);
      }
    }
  });

  test('gives the key ring to apis and senders only, and the key of the authority to the receiver only', () => {
    const mounts = Object.fromEntries(services.map(([name, { volumes = [] }]) => [name, volumes]));
    const having = (volume: string) =>
      Object.keys(mounts).filter((name) => mounts[name]?.some((each) => each.split(':')[0] === volume));
    expect(having('keys').sort()).toEqual(['api', 'sender', 'setup']);
    expect(having('authority').sort()).toEqual(['receiver', 'setup']);
    expect(having('trust').sort()).toEqual(['sender', 'setup']);
    for (const { service, config } of processes) {
      const files = [
        ...(config.usesKeys ? [config.keyRingFile] : []),
        ...(config.postgres ? ['/var/lib/hookrail/passwords/running/password'] : []),
        ...(config.roles.includes('sender') ? [config.egress.extraCaFile] : []),
      ];
      const folders = files.map((file) => file.replace(/\/[^/]+$/, ''));
      expect((service.volumes ?? []).map((volume) => volume.split(':')[1])).toEqual(folders);
      for (const mounted of service.volumes ?? []) {
        expect(mounted).toMatch(/:ro$/);
        expect(compose.services.setup?.volumes).toContain(mounted.replace(/:ro$/, ''));
      }
    }
    const makes = compose.services.setup?.command?.join() ?? '';
    for (const program of makes.match(/dist\/\S+\.js/g) ?? []) expect(sourceOf(program)).toSatisfy(exists);
    expect(makes).toContain('keyring create');
    expect(makes).toContain('/var/lib/hookrail/authority');
  });

  test('declares every volume that is mounted', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]));
    expect(new Set(mounts)).toEqual(new Set(Object.keys(compose.volumes)));
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
      if (config.roles.includes('api')) expect(HOOKRAIL_BASE_URL).toBe(`http://proxy:${config.api.port}`);
    }
    expect(compose.services.setup?.command?.join()).toContain(`cp ${HOOKRAIL_DATA_DIR}/ca.crt `);
    expect(Object.keys(kafka)).toEqual(['HOOKRAIL_KAFKA_BROKERS', 'HOOKRAIL_SCHEMA_REGISTRY_URL']);
  });
});
