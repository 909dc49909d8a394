import { ConfigError } from '../config/config.ts';
import type { KeyRing } from '../keys/keyring.ts';
import type { Clock } from '../process/clock.ts';
import type { Store } from '../store/store.ts';

/**
 * Refuses to start a process that changes endpoints without a key that they need: their secrets could not be opened.
 */
export async function refuseMissingKeys(store: Store, keyRing: KeyRing, clock: Clock): Promise<void> {
  const counts = await store.sealings.counts(clock.wall());
  const needed = counts.flatMap(({ keyId, endpoints }) =>
    endpoints > 0 ? [[keyId, endpoints] as const] : [],
  );
  const lacks = keyRing.lacks(needed);
  if (lacks.length > 0) throw new ConfigError(`${lacks.join('; ')}: put it back (HOOKRAIL_KEYRING)`);
}
