import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { migrateFile } from '../../../services/sqlite/migrate-file.ts';
import { audit } from '../../../services/store/rules/reads/audit.ts';
import { openConnection } from '../../../services/store/sqlite/connection.ts';
import { MIGRATIONS, migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { SQLITE_DIALECT } from '../../../services/store/sqlite/statements.ts';
import { type Store, StoreUnavailable } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { createEndpoint, eventNumber, journalOf, routed } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

/**
 * What the SQLite store promises beyond the contract: its file is one process's, durable, checked, and may be
 * full.
 */

const MERCHANT = 'a-merchant';
let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  file = join(directory, 'store.db');
});
afterEach(() => rm(directory, { recursive: true }));

const open = (pagesMax = 0): Promise<Store> =>
  openSqliteStore({ file, clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING, pagesMax });

describe('the SQLite file of the store', () => {
  it('belongs to one store at a time, and a second one is told so and may come later', async () => {
    const store = await open();
    await expect(open()).rejects.toThrow(`${file} is in use by another process`);
    await store.close();
    await store.close();
    await (await open()).close();
  });

  it.each([
    ['text', Buffer.from('this is not a database, it only pretends to be one'.repeat(100))],
    ['a cut-off header', Buffer.from('SQLite format 3\0'.padEnd(100, 'x'))],
  ])('is refused in one line that names it when it is %s', async (_what, bytes) => {
    await writeFile(file, bytes);
    const refused = await open().catch((error: Error) => error.message);
    expect(refused).toMatch(/is damaged or not a SQLite database .*: restore it from a backup/);
    expect(refused).toContain(file);
    expect(refused).not.toContain('\n');
  });

  it('is refused when a newer build wrote it', async () => {
    await (await open()).close();
    const db = new Database(file);
    db.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    db.close();
    await expect(open()).rejects.toThrow(`${file} has layout ${MIGRATIONS.length + 1}`);
  });

  it.each([
    [
      'of a build with another first layout',
      ['CREATE TABLE merchant (seq INTEGER)'],
      /written by another build \(layout /,
    ],
    [
      'of a build that counted its layouts only',
      undefined,
      /written by another build \(layout 0, this one has/,
    ],
    ['of another program', [], /is the database of another program: move it away/],
  ])('is refused, and stays as it is, when it is %s', async (_what, migrations, said) => {
    const db = openConnection(file, 'write');
    if (migrations?.length) migrateFile(db, file, migrations);
    else db.exec('CREATE TABLE merchant (seq INTEGER)');
    if (!migrations) db.pragma('user_version = 17');
    db.close();
    const before = readFileSync(file);
    const refused = await open().catch((error: Error) => error.message);
    expect(refused).toMatch(said);
    expect(refused).toContain(file);
    expect(refused).not.toContain('\n');
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('is written with every commit durable, on every connection, new or reopened', () => {
    for (const access of ['write', 'write', 'read'] as const) {
      const db = openConnection(file, access);
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      db.close();
    }
  });

  it('leaves nothing but the database and its lock behind when it is closed', async () => {
    await (await open()).close();
    expect((await readdir(directory)).sort()).toEqual(['store.db', 'store.db.lock']);
  });
});

describe('the audit table', () => {
  it('names who did what to which endpoint, and no secret', async () => {
    const uuid = randomUUID();
    const store = await open();
    await createEndpoint(store, MERCHANT, uuid);
    const options = { at: 5.5, actor: { kind: 'api_key', keyId: 'key-1' } } as const;
    const sealed = { keyId: 'k1', ciphertext: 'sealed-anew' };
    await store.endpoints.rotate(MERCHANT, uuid, { sealed, hint: '…hint' }, options);
    await store.endpoints.remove(MERCHANT, uuid, options);
    await store.close();
    const db = new Database(file, { readonly: true });
    const rows = db.prepare('SELECT at, actor, merchant_id, endpoint_uuid, action, details FROM audit').all();
    db.close();
    const by = { at: 5, actor: 'api_key:key-1', merchant_id: MERCHANT, endpoint_uuid: uuid };
    expect(rows).toMatchObject([
      { actor: 'operator', action: 'endpoint.create' },
      { ...by, action: 'endpoint.rotate' },
      { ...by, action: 'endpoint.delete' },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/sealed-|…/);
  });
});

/** The statements of a page of the audit, with values in place of their parameters. */
async function statementsOfAudit(options: object): Promise<string[]> {
  const texts: string[] = [];
  const rows = async <Row>(text: string) => {
    texts.push(text.replaceAll(/\$\d+/g, '1'));
    return [] as Row[];
  };
  const unused = () => Promise.reject(new Error('one statement reads a page'));
  await audit({ dialect: SQLITE_DIALECT, rows, first: unused, change: unused }, { limit: 1, ...options });
  return texts;
}

describe('a query of the audit log', () => {
  it('uses an index for every set of filters, without sorting', async () => {
    const db = openConnection(file, 'write');
    migrate(db, file);
    const filters = [
      [{}, 'audit_newest'],
      [{ since: 1 }, 'audit_newest'],
      [{ merchantId: 'm' }, 'audit_merchant'],
      [{ merchantId: 'm', since: 1 }, 'audit_merchant'],
      [{ endpointId: 'e', since: 1 }, 'audit_endpoint'],
      [{ endpointId: 'e', merchantId: 'm' }, 'audit_endpoint'],
    ] as const;
    for (const [options, index] of filters) {
      for (const isContinued of [false, true]) {
        const [sql = ''] = await statementsOfAudit({ ...options, ...(isContinued ? { after: '1.1' } : {}) });
        const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
        const lines = plan.map(({ detail }) => detail);
        expect(lines[0]).toContain(`USING INDEX ${index}`);
        expect(lines.join()).not.toContain('TEMP B-TREE');
      }
    }
    db.close();
  });
});
describe('the store on a full disk', () => {
  it('refuses with StoreUnavailable, loses nothing acknowledged, and resumes when there is room', async () => {
    const endpointId = randomUUID();
    let store = await open(100);
    const created = await createEndpoint(store, MERCHANT, endpointId);
    const apply = journalOf(store);
    let acknowledged = 0;
    let refused: unknown;
    while (refused === undefined && acknowledged < 10_000) {
      await apply(routed(eventNumber(MERCHANT, acknowledged), [endpointId])).then(
        () => {
          acknowledged += 1;
        },
        (error: unknown) => {
          refused = error;
        },
      );
    }
    expect(refused).toBeInstanceOf(StoreUnavailable);
    expect((refused as Error).message).toContain(file);
    expect(store.status()).toMatchObject({ reachable: false });
    expect(await store.endpoints.get(MERCHANT, endpointId)).toEqual(created.record);
    await store.close();
    store = await open();
    expect(await store.log.positionOf('journal-0')).toBe(acknowledged);
    const again = { partition: 'journal-0', first: acknowledged + 1, last: acknowledged + 1 };
    await store.log.applyJournal([
      { ...again, entries: [routed(eventNumber(MERCHANT, acknowledged), [endpointId])] },
    ]);
    expect(store.status()).toMatchObject({ reachable: true });
    const found = (await store.lists.deliveries(MERCHANT, { endpointId, limit: 1000 })).records;
    expect(found).toHaveLength(Math.min(1000, acknowledged + 1));
    await store.close();
  });
});

describe('the store of a killed process', () => {
  it('has everything it acknowledged, and its lock is free', async () => {
    const endpointId = randomUUID();
    const script = fileURLToPath(new URL('./writer-process.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script, file, endpointId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let acknowledged = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line);
      if (acknowledged === 50) child.kill('SIGKILL');
    }
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(acknowledged).toBeGreaterThanOrEqual(50);
    const store = await open();
    expect(await store.log.positionOf('journal-0')).toBeGreaterThanOrEqual(acknowledged);
    const found = (await store.lists.deliveries(MERCHANT, { endpointId, limit: 1000 })).records;
    expect(found.length).toBeGreaterThanOrEqual(acknowledged);
    await store.close();
  });
});
