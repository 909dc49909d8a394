import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { distrusted } from '../services/domain/access/sandbox-file.ts';
import { usage } from './exit.ts';

/**
 * Reads a file of the data directory; undefined when there is none. Throws a usage failure when another user owns it or
 * may write it. What is read is what was checked, also when the file is replaced meanwhile.
 */
export function readOwnFile(path: string): string | undefined {
  const opened = open(path);
  if (opened === undefined) return undefined;
  try {
    const why = distrusted(fstatSync(opened), process.getuid?.());
    if (why === null) return readFileSync(opened, 'utf8');
    throw usage(
      `${path} ${why}: it is not read, because it says where requests and keys go`,
      `if it is yours: chown $(id -u) ${path} && chmod 600 ${path}`,
      'or name the data directory of your sandbox: --data-dir …',
    );
  } finally {
    closeSync(opened);
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usage(`${path} cannot be read (${code})`, 'or name another data directory: --data-dir …');
  }
}
