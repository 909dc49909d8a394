import { newApiKey } from '../../services/domain/api-key.ts';
import { usage } from '../exit.ts';
import { readText } from './read-text.ts';

const KEY_BYTES = 32;

/** The API's code for a key of the other environment: the simulator uses sandbox keys only. */
export const OTHER_ENVIRONMENT = 'api_key_environment_mismatch';

/** Returns the failure for an address of a production service. */
export function productionRefused(baseUrl: string) {
  return usage(
    `${baseUrl} is a production service; the simulator invents payments and works with a sandbox only`,
    'start a sandbox with: hookrail start',
    'check which address is used, and where it comes from, with: hookrail sim whoami',
  );
}

/**
 * Throws when the address is that of a production service. It asks with an unknown key of the sandbox: production says that
 * this is the wrong environment.
 */
export async function refuseProduction(baseUrl: string, signal: AbortSignal): Promise<void> {
  const unknown = newApiKey('merchant', 'sandbox', new Uint8Array(KEY_BYTES));
  const response = await fetch(`${baseUrl}/merchant/webhook-endpoints?limit=1`, {
    headers: { authorization: `API-Key ${unknown}`, accept: 'application/json' },
    redirect: 'manual',
    signal,
  });
  if (response.status !== 401) return void (await response.body?.cancel());
  const text = await readText(response);
  if (text.includes(`"${OTHER_ENVIRONMENT}"`)) throw productionRefused(baseUrl);
}
