/**
 * Guarantee: the commands by which docs/deploy.md and docs/operate lead from a store in SQLite on Kafka to PostgreSQL, and
 * through its backup and restore, work as they are typed, in production.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { findBinaries } from '../../../scripts/local-postgres/binaries.ts';
import { type LocalPostgres, startLocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { eventToJson } from '../../../services/codec/events.ts';
import { createAuthority } from '../../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import { createTopics } from '../../support/kafka/created-topics.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { bare, commandsOf } from '../../support/pages/command-blocks.ts';
import { ANY_PORTS, type RunningCommand, Terminal } from '../../support/pages/terminal.ts';
import { describeWherePostgresStarts } from '../../support/postgres/suites.ts';
import { eventOf } from '../../support/records/events.ts';

const TEST_MS = 300_000;
const SERVES = 'hookrail is running';

/** A reader's checkout, in production on Kafka, with two servers of PostgreSQL. */
class Installation {
  readonly terminal: Terminal;
  readonly #primary: LocalPostgres;
  readonly #standby: LocalPostgres;
  readonly #api: string;
  readonly #running: Record<string, RunningCommand> = {};
  /** The exports of the first steps of "With PostgreSQL". */
  exported = '';
  #merchantId = '';
  #producerKey = '';

  static async open(kafka: KafkaForTests): Promise<Installation> {
    const environment = kafkaEnvironment(kafka, freshPrefix());
    await createTopic(kafka.brokers, environment.HOOKRAIL_EVENTS_TOPIC);
    const terminal = new Terminal({
      ...environment,
      HOOKRAIL_ENVIRONMENT: 'production',
      HOOKRAIL_OPERATOR: 'ann',
      HOOKRAIL_KAFKA_CREATE_TOPICS: 'true',
      HOOKRAIL_SCHEMA_REGISTRY_REGISTER: 'true',
    });
    const file = (name: string) => join(terminal.folder, name);
    const [apiPort, opsPort] = [await freePort(), await freePort()];
    terminal.export('HOOKRAIL_DATA_DIR', file('data'));
    terminal.export('HOOKRAIL_KEYRING', file('keyring.json'));
    terminal.export('HOOKRAIL_API_PORT', `${apiPort}`);
    terminal.export('HOOKRAIL_OPS_PORT', `${opsPort}`);
    for (const name of ['postgres', 'postgres-owner']) writeFileSync(file(name), 'secret');
    writeFileSync(file('ca.pem'), (await createAuthority()).certPem);
    // The page makes the role hookrail.
    const options = { environment: process.env, superuser: 'postgres' };
    const primary = await startLocalPostgres(options);
    // The name by which the page's synchronous_standby_names knows it.
    const settings = { cluster_name: 'db_2' };
    const standby = await startLocalPostgres({ ...options, standbyOf: primary, settings });
    return new Installation(terminal, [primary, standby], `http://127.0.0.1:${apiPort}`);
  }

  private constructor(terminal: Terminal, servers: [LocalPostgres, LocalPostgres], api: string) {
    this.terminal = terminal;
    [this.#primary, this.#standby] = servers;
    this.#api = api;
  }

  async createKeys(): Promise<void> {
    await this.terminal.type('npx --no hookrail operator keyring create');
    ({ merchantId: this.#merchantId } = await this.#json('merchants create --name Acme'));
    ({ key: this.#producerKey } = await this.#json('keys create --producer'));
  }

  /** Starts a process. That with the role api has the ports that are exported: the operator's tool asks it. */
  async serve(command: string): Promise<void> {
    const [, roles = ''] = /HOOKRAIL_ROLES=(\S+)/.exec(command) ?? [];
    const ports = roles.startsWith('api') ? '' : ANY_PORTS;
    this.#running[roles] = await this.terminal.start(`${this.exported}\n${ports} ${bare(command)}`, SERVES);
  }

  async stop(...roles: string[]): Promise<void> {
    for (const each of roles) expect(await this.#running[each]?.interrupt('SIGTERM')).toBe(0);
  }

  /** Resolves once the process with these roles has written a text. */
  async says(roles: string, text: string): Promise<void> {
    await this.#running[roles]?.says(text);
  }

  /** Publishes an event, and resolves with its id when the delivery log has it. */
  async recorded(seed: string): Promise<string> {
    const event = eventOf(this.#merchantId, seed, { simulated: false });
    const answer = await fetch(`${this.#api}/producer/events`, {
      method: 'POST',
      headers: { authorization: `API-Key ${this.#producerKey}`, 'content-type': 'application/json' },
      body: JSON.stringify([eventToJson(event)]),
    });
    expect(answer.status).toBe(202);
    await eventually(`event ${seed} is recorded`, () => this.isRecorded(event.eventId));
    return event.eventId;
  }

  async isRecorded(eventId: string): Promise<boolean> {
    const { stdout } = await this.terminal.type(
      `${this.exported}\nnpx --no hookrail operator events get ${eventId} --output json || true`,
    );
    return stdout.includes(eventId);
  }

  async inPsql(database: string, ...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: this.#primary.url(database) });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  /** Returns a command with the servers and files of this machine in place of the page's. */
  here(command: string): string {
    const hosts = [this.#primary, this.#standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
    return bare(command)
      .replaceAll(/db-1,db-2(,db-3)?/g, hosts)
      .replace('--host=db-2', `--host=127.0.0.1 --port=${this.#standby.port}`)
      .replace('/etc/hookrail/postgres-ca.pem', join(this.terminal.folder, 'ca.pem'))
      .replace('/backups/base', join(this.terminal.folder, 'base'))
      .replaceAll('/run/secrets/', `${this.terminal.folder}/`);
  }

  async close(): Promise<void> {
    await this.terminal.close();
    await this.#standby.dispose();
    await this.#primary.dispose();
  }

  async #json(command: string) {
    const { stdout } = await this.terminal.type(`npx --no hookrail operator ${command} --output json`);
    return JSON.parse(stdout);
  }
}

await describeWithKafka('docs/deploy.md and docs/operate:', (kafka) => {
  describeWherePostgresStarts('a store moves to PostgreSQL,', () => {
    let at: Installation;
    /** An event of before the move. */
    let moved: string;
    beforeAll(async () => {
      at = await Installation.open(kafka);
    }, TEST_MS);
    afterAll(() => at?.close(), TEST_MS);

    test('from three processes on Kafka', { timeout: TEST_MS }, async () => {
      await at.createKeys();
      const [store = '', router = '', sender = '', ...more] = commandsOf('docs/deploy.md', 'On Kafka');
      expect(more).toEqual([]);
      await Promise.all([store, router, sender].map((each) => at.serve(each)));
      moved = await at.recorded('sqlite');
    });

    test('into a database with two roles', { timeout: TEST_MS }, async () => {
      await at.inPsql('postgres', ...commandsOf('docs/deploy.md', 'With PostgreSQL'));
      const [url = '', password = '', copy = '', ...more] = commandsOf(
        'docs/operate/tasks.md',
        'Move from SQLite to PostgreSQL',
      );
      expect(more).toEqual([]);
      const owner = 'export HOOKRAIL_POSTGRES_MIGRATE_URL=postgres://hookrail_owner@db-1,db-2/hookrail';
      const before = [owner, url, password].map((each) => at.here(each)).join('\n');
      await at.stop('api,recorder');
      const { stdout } = await at.terminal.type(`${before}\n${bare(copy)}`);
      expect(stdout).toContain('all rows are the same in both stores');
      expect(stdout).toContain('start the service with HOOKRAIL_STORE=postgres');
      await at.stop('router', 'sender');
    });

    test('to three processes that use it', { timeout: TEST_MS }, async () => {
      const [engine = '', urls = '', authority = '', migrate = '', ...serves] = commandsOf(
        'docs/deploy.md',
        'With PostgreSQL',
        2,
      );
      at.exported = [engine, urls, authority].map((each) => at.here(each)).join('\n');
      await at.terminal.type(`${at.exported}\n${at.here(migrate)}`);
      expect(serves).toHaveLength(3);
      await Promise.all(serves.map((each) => at.serve(each)));
      expect(await at.isRecorded(moved)).toBe(true);
      await at.recorded('postgres');
    });

    test('is backed up', { timeout: TEST_MS }, async () => {
      const [backup = '', ...more] = commandsOf('docs/operate/postgres.md', 'Backup and restore');
      expect(more).toEqual([]);
      await at.inPsql('postgres', "CREATE ROLE backup LOGIN REPLICATION PASSWORD '…'");
      const found = findBinaries(process.env);
      await at.terminal.type(`PATH=${'folder' in found && found.folder}:$PATH\n${at.here(backup)}`);
      expect(existsSync(join(at.terminal.folder, 'base', 'backup_manifest'))).toBe(true);
    });

    test('and is compared after a restore', { timeout: TEST_MS }, async () => {
      await at.stop('api', 'recorder');
      await at.inPsql('hookrail', ...commandsOf('docs/operate/postgres.md', 'After a restore'));
      const roles = ['api', 'recorder'];
      await Promise.all(roles.map((role) => at.serve(`HOOKRAIL_ROLES=${role} npx --no hookrail serve`)));
      await at.says('api', 'directory_reconciled');
      await at.recorded('restored');
      await at.stop('api', 'recorder', 'router,sender');
    });
  });
});

async function createTopic(brokers: string[], topic: string): Promise<void> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await createTopics(admin, [{ topic, numPartitions: 3 }]);
  await admin.disconnect();
}
