import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian has PostgreSQL, a folder per version. */
const DEBIAN = '/usr/lib/postgresql';
/** The programs of the server. A folder on the path may have only some of them, as links. */
const PROGRAMS = ['initdb', 'postgres', 'pg_ctl', 'pg_basebackup'];
/** The oldest version that the store runs on. */
const VERSION_MIN = 15;

export interface Binaries {
  /** The folder of initdb and postgres. */
  readonly folder: string;
  readonly version: number;
}

/** Returns this machine's newest PostgreSQL server, or the reason in one line why there is none. */
export function findBinaries(environment: NodeJS.ProcessEnv): Binaries | { readonly missing: string } {
  const onPath = (environment.PATH ?? '').split(delimiter);
  const onDebian = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin'))
    : [];
  const found = [...onPath, ...onDebian]
    .filter((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))))
    .map((folder) => ({ folder, version: versionOf(folder) }))
    .sort((one, other) => other.version - one.version);
  const [newest] = found;
  if (newest && newest.version >= VERSION_MIN) return newest;
  const install = `install PostgreSQL ${VERSION_MIN} or newer, on Debian: apt-get install postgresql`;
  return {
    missing: newest
      ? `PostgreSQL ${newest.version} is too old: ${install}.`
      : `No PostgreSQL server: ${install}.`,
  };
}

function versionOf(folder: string): number {
  const text = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
  return Number(/\(PostgreSQL\) (\d+)/.exec(text)?.[1] ?? 0);
}
