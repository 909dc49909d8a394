import { fileURLToPath } from 'node:url';
import { KeyRing } from '../../../services/keys/keyring.ts';

/** The key ring of stores under test, which seals what they write; its only key is `k1`. */
export const TEST_RING = KeyRing.read(fileURLToPath(new URL('./keyring.json', import.meta.url)));
