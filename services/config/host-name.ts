import { Malformed } from './variables.ts';

const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/i;

/** Parses one entry of a list of names that a server answers to. */
export function hostName(entry: string): string {
  if (HOST_NAME.test(entry)) return entry.toLowerCase();
  throw new Malformed(
    `must be names without scheme and port, comma separated (hookrail.internal); "${entry}" is none`,
  );
}
