import { usage } from './exit.ts';
import { unreadable } from './session.ts';
import { readText } from './text-file.ts';

/** Options whose value is a secret, which every user of the machine can see in the list of processes. */
const SECRET_OPTIONS = ['api-key', 'producer-key', 'secret'];

/** Replaces `@file` by what the file has, so that a secret need not be on the command line. */
export function readSecrets(parsed: Record<string, unknown>): void {
  for (const option of SECRET_OPTIONS) {
    const value = parsed[option];
    if (typeof value !== 'string' || !value.startsWith('@')) continue;
    const secret = secretIn(value.slice(1));
    parsed[option] = secret;
    parsed[option.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = secret;
  }
}

function secretIn(path: string): string {
  let secret: string;
  try {
    secret = readText(path).trim();
  } catch (error) {
    throw unreadable(path, error);
  }
  if (secret === '') throw usage(`${path} is empty: it should have a key or a secret`);
  return secret;
}
