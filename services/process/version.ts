import { readFileSync } from 'node:fs';

/** Returns the version of this hookrail, as its package has it. */
export function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
