import { readFileSync } from 'node:fs';
import { usage } from '../exit.ts';
import { isRegularFile, writeNamedFile } from '../named-file.ts';

const NAME = 'WEBHOOK_SECRET';
const ASSIGNMENT = /^([ \t]*(?:export[ \t]+)?)WEBHOOK_SECRET[ \t]*=.*$/m;

/**
 * Sets WEBHOOK_SECRET in an .env file; every other line stays. The file is replaced as a whole, and one that is new may
 * be read by its owner only; a pipe gets the one line. Returns whether it was changed. Throws a usage failure when it cannot be written.
 */
export function writeEnvFile(path: string, secret: string): boolean {
  try {
    const before = isRegularFile(path) ? readFileSync(path, 'utf8') : '';
    const after = withSecret(before, secret);
    if (after === before) return false;
    writeNamedFile(path, after, (mode = 0o600) => mode);
    return true;
  } catch (error) {
    throw usage(`--write-env ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? error})`);
  }
}

function withSecret(text: string, secret: string): string {
  const line = `${NAME}=${secret}`;
  // As a function: a replacement text would give a meaning to `$`.
  if (ASSIGNMENT.test(text)) return text.replace(ASSIGNMENT, (_, before: string) => `${before}${line}`);
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  return `${text}${gap}${line}${end}`;
}
