import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from '../../config/config.ts';
import { distrusted } from '../../domain/access/sandbox-file.ts';
import { isLoopbackHost } from '../../domain/text/loopback.ts';

/**
 * Returns the variables of the operations address that the sandbox of a data directory wrote; none without a sandbox.
 * Throws ConfigError when another user may have written the file, or when it names another machine: the operator's
 * commands and token would go there.
 */
export function sandboxOperations(dataDir: string): {
  readonly HOOKRAIL_OPS_HOST?: string | undefined;
  readonly HOOKRAIL_OPS_PORT?: string | undefined;
} {
  const file = join(dataDir, 'sandbox.env');
  const { HOOKRAIL_OPS_HOST: host, HOOKRAIL_OPS_PORT } = parseEnv(readOwn(file));
  if (host !== undefined && !isLoopbackHost(host))
    throw new ConfigError(
      `HOOKRAIL_OPS_HOST=${host} of ${file} is refused: a file may name an address of this machine only. If you mean ` +
        'it, set HOOKRAIL_OPS_HOST in the environment',
    );
  return { HOOKRAIL_OPS_HOST: host, HOOKRAIL_OPS_PORT };
}

/** Reads a file of the data directory; empty when there is none. What is read is what was checked. */
function readOwn(file: string): string {
  let opened: number;
  try {
    opened = openSync(file, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    throw new ConfigError(`${file} cannot be read (${code})`);
  }
  try {
    const why = distrusted(fstatSync(opened), process.getuid?.());
    if (why === null) return readFileSync(opened, 'utf8');
    throw new ConfigError(
      `${file} ${why}: it is not read. If it is yours: chown $(id -u) ${file} && chmod 600 ${file}`,
    );
  } finally {
    closeSync(opened);
  }
}
