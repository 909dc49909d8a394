import type { PlantedBug } from '../planted-bug.ts';

/** Seals of directory records. */
export const SEAL_BUGS: readonly PlantedBug[] = [
  {
    id: 'seal-without-url',
    bug: 'the seal of an endpoint leaves out its URL',
    file: 'services/domain/seals/canonical-record.ts',
    text: 'text(merchantId), text(url)],',
    replacement: 'text(merchantId), text(url.slice(0, 0))],',
    test: 'test/domain/seals/record-seals.test.ts',
    title: 'does not fit when the',
  },
  {
    id: 'forged-record-applied',
    bug: 'a follower applies a record that does not fit its seal',
    file: 'services/relay/checked-directory.ts',
    text: "if (verdict === 'valid') return",
    replacement: "if (verdict === 'valid' || verdict === 'forged') return",
    test: 'test/relay/checked-directory.test.ts',
    title: 'a forged record leaves the last good one in force',
  },
  {
    id: 'unsealed-after-the-mark',
    bug: 'a record without a seal is taken although all are sealed',
    file: 'services/domain/seals/record-seals.ts',
    text: 'return this.#isRequired || this.#keys.requiresSeals;',
    replacement: 'return this.#keys.requiresSeals;',
    test: 'test/relay/checked-directory.test.ts',
    title: 'records without a seal are taken until the directory says that all are sealed',
  },
  {
    id: 'old-state-switched-off',
    bug: 'the relay seals an old state of an endpoint that is said to be switched off',
    file: 'services/relay/publishable.ts',
    text: 'if (!newest || (change.seal?.version ?? 0) >= newest.version)',
    replacement: 'if (!newest || (change.seal?.version ?? 0) >= 0)',
    test: 'test/relay/checked-directory.test.ts',
    title: 'a switch-off without a seal of its own is sealed if it builds on what is in force',
  },
  {
    id: 'tampered-row-built-on',
    bug: 'a change builds on a row that somebody has changed in the database',
    file: 'services/store/rows/record-seals.ts',
    text: 'if (!seals.isSound(verdict)) throw',
    replacement: "if (verdict === 'key_missing') throw",
    test: 'test/store/sqlite/seals.test.ts',
    title: 'are no base for a change once somebody has changed',
  },
];
