import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/config.ts';
import { messageOf } from '../messages/error-message.ts';

/** Reads the authorities that the sender trusts in addition to the system's; null when the path is empty. */
export function readExtraCa(path: string): string | null {
  if (path === '') return null;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`HOOKRAIL_EXTRA_CA_FILE cannot be read: ${messageOf(error)}`);
  }
}
