import { join } from 'node:path';

/**
 * Returns the file in which the running service stores the token of its operator interface: readable by its user only.
 */
export function operatorTokenFile(dataDir: string): string {
  return join(dataDir, 'operator.token');
}
