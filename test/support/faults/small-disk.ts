/** A small disk of its own: a tmpfs, where the user of the tests may mount one. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';

const MIB = 1024 * 1024;

/** What a test says that is skipped because there is no small disk. */
export const NO_SMALL_DISK = 'mounting a tmpfs is not allowed here';

export class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'hookrail-disk-'));
  readonly isMounted: boolean;

  constructor(sizeMb: number) {
    const options = ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', this.folder];
    this.isMounted = spawnSync('mount', options).status === 0;
  }

  /** Fills it with a file, but for so many MiB. Returns a function that makes room again. */
  crowd(leftMb: number): () => void {
    const { bavail, bsize } = statfsSync(this.folder);
    const ballast = join(this.folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leftMb * MIB)));
    return () => rmSync(ballast);
  }

  growTo(sizeMb: number): void {
    execFileSync('mount', ['-o', `remount,size=${sizeMb}m`, this.folder]);
  }

  /** Unmounts it, even while files on it are open. */
  dispose(): void {
    if (this.isMounted) spawnSync('umount', ['-l', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Creates a database whose tables are on the disk; the server's other files are not. Returns its name. */
export async function createSmallDatabase(server: LocalPostgres, disk: SmallDisk): Promise<string> {
  const folder = join(disk.folder, 'tables');
  mkdirSync(folder);
  const { uid, gid } = statSync(server.folder);
  chownSync(folder, uid, gid);
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await client.query('CREATE DATABASE small TABLESPACE small');
  } finally {
    await client.end();
  }
  return 'small';
}
