import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/** Returns the variables of the operations address that the sandbox of a data directory wrote; none without a sandbox. */
export function sandboxOperations(dataDir: string): {
  readonly HOOKRAIL_OPS_HOST?: string | undefined;
  readonly HOOKRAIL_OPS_PORT?: string | undefined;
} {
  const file = join(dataDir, 'sandbox.env');
  if (!existsSync(file)) return {};
  const { HOOKRAIL_OPS_HOST, HOOKRAIL_OPS_PORT } = parseEnv(readFileSync(file, 'utf8'));
  return { HOOKRAIL_OPS_HOST, HOOKRAIL_OPS_PORT };
}
