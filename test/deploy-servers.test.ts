/** The servers that docker-compose.yml starts beside the service: PostgreSQL with its standby, and the brokers. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { topicSpecs } from '../services/broker/kafka/topics/topics.ts';
import { parsePostgresUrl } from '../services/store/postgres/client/postgres-address.ts';
import {
  compose,
  configOf,
  exists,
  kafkas,
  postgres,
  processes,
  type Service,
  script,
  services,
  sourceOf,
} from './support/deployment.ts';

describe('the PostgreSQL of docker-compose.yml', () => {
  const names = postgres.map(([name]) => name);

  test('is the store of apis and recorders, which know both servers, and of no other', () => {
    const using = processes.filter(({ config }) => config.postgres);
    expect(using.map(({ name }) => name)).toEqual(['api', 'recorder']);
    const migrating = configOf(compose.services.migrate as Service);
    for (const config of [migrating, ...using.map((each) => each.config)]) {
      const { hosts, user, password, database } = parsePostgresUrl(config.postgres?.url ?? '', undefined);
      expect(hosts).toEqual(names.map((host) => ({ host, port: 5432 })));
      expect(password).toBe('/var/lib/hookrail/passwords/running/password');
      expect(script('postgres-1')).toContain(`CREATE ROLE ${user} LOGIN PASSWORD :'running';`);
      expect(config.postgres?.migrateUrl === '').toBe(config !== migrating);
      const owner = parsePostgresUrl(migrating.postgres?.migrateUrl ?? '', undefined);
      expect(owner).toEqual({
        hosts,
        database,
        ssl: false,
        user: 'hookrail_owner',
        password: '/var/lib/hookrail/passwords/owner/password',
      });
      expect(user).not.toBe(owner.user);
      expect(script('postgres-1')).toContain(`CREATE ROLE ${owner.user} LOGIN PASSWORD :'owner';`);
      expect(script('postgres-1')).toContain(`CREATE DATABASE ${database} OWNER ${owner.user};`);
    }
  });

  test('draws its passwords in the first container, and mounts each where its role is used', () => {
    const mounts = (name: string) =>
      (compose.services[name]?.volumes ?? []).filter((volume) => volume.startsWith('passwords-'));
    const made = script('setup');
    for (const role of ['admin', 'owner', 'running']) {
      const having = services
        .map(([name]) => name)
        .filter((name) => mounts(name).some((one) => one.includes(role)));
      const using = { admin: [], owner: ['migrate'], running: ['api', 'migrate', 'recorder'] }[role] ?? [];
      expect(having.sort(), role).toEqual([...using, ...names, 'setup'].sort());
      for (const name of names) {
        expect(mounts(name)).toContain(`passwords-${role}:/run/passwords/${role}:ro`);
        expect(script(name)).toContain(`\\set ${role} \`cat /run/passwords/${role}/password\``);
      }
      expect(mounts('setup')).toContain(`passwords-${role}:/var/lib/hookrail/passwords/${role}`);
      expect(made).toMatch(new RegExp(`for role in [a-z ]*\\b${role}\\b`));
    }
    expect(JSON.stringify(compose)).not.toMatch(/:sandbox@|PASSWORD 'sandbox'/);
    for (const [, { environment, depends_on }] of postgres) {
      expect(environment?.POSTGRES_PASSWORD_FILE).toBe('/run/passwords/admin/password');
      expect(depends_on?.setup?.condition).toBe('service_completed_successfully');
    }
  });

  test('is migrated once it has its standby, by the operator command', () => {
    const { command, entrypoint = [], depends_on } = compose.services.migrate ?? {};
    expect(sourceOf(entrypoint[1])).toSatisfy(exists);
    expect(command).toEqual(['store', 'migrate', '--as', 'setup']);
    for (const name of names) expect(depends_on?.[name]?.condition).toBe('service_healthy');
  });

  test('is a primary and a synchronous standby, each of which can be the copy of the other', () => {
    expect(names).toEqual(['postgres-1', 'postgres-2']);
    for (const [name, { hostname, environment = {}, volumes, stop_grace_period }] of postgres) {
      expect(hostname).toBe(name);
      expect([name, environment.OTHER].sort()).toEqual(names);
      expect(volumes).toContain(`${name}:/var/lib/postgresql/data`);
      expect(environment.PGDATA).toMatch(/^\/var\/lib\/postgresql\/data\/\w+$/);
      expect(stop_grace_period).toBe('60s');
      expect(script(name)).toContain(`'ANY 1 ("${names.join('", "')}")'`);
      expect(script(name)).toContain('cluster_name="$HOSTNAME"');
    }
    expect(postgres.map(([, { environment }]) => environment?.CREATES)).toEqual(['yes', 'no']);
  });

  test('and the proxy are started by scripts that a shell can read', () => {
    for (const [name, shell] of [...names.map((each) => [each, 'bash'] as const), ['proxy', 'sh'] as const])
      expect(spawnSync(shell, ['-n', '-c', script(name)], { encoding: 'utf8' }), name).toMatchObject({
        status: 0,
        stderr: '',
      });
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
