/**
 * Guarantee: the embedded engine's write-ahead log stays small, however little each commit holds: a file that only grows
 * while traffic is light would fill the disk, and take long to open after a crash.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { anEvent } from '../../support/records/broker-records.ts';

const COMMITS = 3000;
const WAL_BYTES_MAX = 48 * 1024 * 1024;

it('the WAL is copied into the file in time when every event is a commit of its own', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-wal-'));
  const file = join(folder, 'broker.db');
  const broker = await openSqliteBroker({ file, clock: systemClock(), retryScale: 1 });
  try {
    for (let commit = 0; commit < COMMITS; commit += 1) await broker.publishEvents([anEvent()]);
    expect(statSync(`${file}-wal`).size).toBeLessThan(WAL_BYTES_MAX);
  } finally {
    await broker.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
