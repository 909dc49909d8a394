import { existsSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { usage } from '../exit.ts';

const NAME = 'WEBHOOK_SECRET';
const ASSIGNMENT = /^([ \t]*(?:export[ \t]+)?)WEBHOOK_SECRET[ \t]*=.*$/m;

/**
 * Sets WEBHOOK_SECRET in an .env file; every other line stays. The file is replaced as a whole, and one that is new may
 * be read by its owner only. Returns whether it was changed. Throws a usage failure when it cannot be written.
 */
export function writeEnvFile(path: string, secret: string): boolean {
  try {
    const file = existsSync(path) ? realpathSync(path) : path;
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const after = withSecret(before, secret);
    if (after === before) return false;
    const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600;
    const part = `${file}.${process.pid}.part`;
    writeFileSync(part, after, { mode });
    renameSync(part, file);
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
