/**
 * Guarantee: only the service's user can read its data directory, whatever the umask and the rights of existing
 * files.
 */
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { runOperator } from '../../services/operator.ts';
import { prepareSetup, type Service, startService } from '../support/service/system.ts';

const OTHERS = 0o077;
let service: Service | undefined;

afterEach(() => service?.end('SIGKILL'));

/** Paths below the folder, and itself, that group or others may open. */
function openToOthers(folder: string): string[] {
  const databases = readdirSync(folder).filter((name) => name.includes('.db'));
  expect(databases).toEqual(
    expect.arrayContaining(['store.db', 'store.db-wal', 'broker.db', 'broker.db-wal']),
  );
  return [folder, ...databases.map((name) => join(folder, name))].filter(
    (path) => (statSync(path).mode & OTHERS) !== 0,
  );
}

const WITHOUT_UMASK = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];

it('databases, side files and backups are made for their owner alone', { timeout: 90_000 }, async () => {
  const { dataDir, environment } = await prepareSetup();
  service = await startService(environment, WITHOUT_UMASK);
  expect(openToOthers(dataDir)).toEqual([]);
  const backup = join(dataDir, 'backup-of-store.db');
  const ops = new URL(service.operationsUrl).port;
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const code = await runOperator(
    ['store', 'backup', backup],
    { ...environment, HOOKRAIL_OPS_PORT: ops },
    print,
    print,
  );
  expect(lines.join('\n') + code).toContain(backup);
  expect(openToOthers(dataDir)).toEqual([]);
});

it('rights that others had before are taken away at the start, and the log says so', {
  timeout: 90_000,
}, async () => {
  const { dataDir, environment } = await prepareSetup();
  service = await startService(environment);
  await service.end('SIGKILL');
  chmodSync(dataDir, 0o755);
  for (const name of readdirSync(dataDir)) if (name.includes('.db')) chmodSync(join(dataDir, name), 0o644);
  service = await startService(environment, WITHOUT_UMASK);
  expect(openToOthers(dataDir)).toEqual([]);
  const told = service.output.filter((line) => line.includes('other users could read the data directory'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '').tightened).toEqual(
    expect.arrayContaining([dataDir, join(dataDir, 'store.db')]),
  );
});
