import type { PlantedBug } from './planted-bug.ts';

const ERASE = 'services/operator/commands/erase-entity.ts';
const ERASURES = 'test/operator/unfinished-erasures.test.ts';

/** Work that one process begins and another one ends. */
export const SEVERAL_API_BUGS: readonly PlantedBug[] = [
  {
    id: 'erasures-finished-at-start-only',
    bug: 'a running service does not finish an erasure whose tool was killed',
    file: ERASE,
    text: 'await clock.sleep(LOOK_MS, signal);',
    replacement: 'await clock.sleep(1e12, signal);',
    test: ERASURES,
    title: 'an erasure whose tool was killed',
  },
  {
    id: 'erasures-taken-from-their-tool',
    bug: 'a running service carries out an erasure that its tool is carrying out',
    file: ERASE,
    text: 'if (clock.now() - since < leftMs) continue;',
    replacement: '',
    test: ERASURES,
    title: 'an erasure whose tool was killed',
  },
  {
    id: 'apis-seal-with-a-former-key',
    bug: 'an api seals with a former key after another process has rewrapped everything',
    file: 'services/keys/keyring.ts',
    text: 'const key = this.has(keyId) ? this.#ring.keys.get(keyId) : undefined;',
    replacement: 'const key = this.#ring.keys.get(keyId);',
    test: 'test/simulator/two-apis.test.ts',
    title: 'erase, seal anew and replay',
    needsKafka: true,
  },
  {
    id: 'replays-of-other-apis-unnoticed',
    bug: 'a replay that another process started waits for an hour',
    file: 'services/replayer/replayer.ts',
    text: 'const LOOK_MS = 1000;',
    replacement: 'const LOOK_MS = 3_600_000;',
    test: 'test/guarantees/postgres/two-apis.test.ts',
    title: 'deliver, list, send again and replay together',
    needsKafka: true,
  },
];
