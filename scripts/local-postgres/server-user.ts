import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';

/** PostgreSQL and PgBouncer refuse to run as root: then they run as the user that Debian's package creates. */
const USER = 'postgres';

/** Returns the command line of a server, as the other user when this one is root. */
export function asServerUser(program: string, args: readonly string[]): [string, ...string[]] {
  if (!isRoot()) return [program, ...args];
  return ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--', program, ...args];
}

/** Makes the user that servers run as the owner of a file or folder. */
export function giveToServerUser(path: string): void {
  if (isRoot()) chownSync(path, idOf('-u'), idOf('-g'));
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, USER], { encoding: 'utf8' }));
}
