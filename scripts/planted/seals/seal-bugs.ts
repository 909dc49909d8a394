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
    id: 'unsealed-record-applied',
    bug: 'a follower applies a record without a seal',
    file: 'services/relay/checked-directory.ts',
    text: "if (verdict === 'key_missing') return",
    replacement:
      "if (verdict === 'unsealed') return this.#accept(change);\n    if (verdict === 'key_missing') return",
    test: 'test/relay/checked-directory.test.ts',
    title: 'a record without a seal of its version is refused',
  },
  {
    id: 'unsealed-record-sealed',
    bug: 'a rewrap seals a record that somebody has taken the seal of',
    file: 'services/store/rules/record-sealing.ts',
    text: 'if (isSound(seals, change)) await',
    replacement: 'if (!change.seal || isSound(seals, change)) await',
    test: 'test/store/sqlite/seals.test.ts',
    title: 'without a seal are refused, whoever sealed them before',
  },
  {
    id: 'written-without-a-seal',
    bug: 'a process without the key ring writes a merchant without a seal',
    file: 'services/store/rules/outbox-writes.ts',
    text: 'const sealed = requiredSeals(tx.seals).sealed(change);',
    replacement: 'const sealed = tx.seals ? tx.seals.sealed(change) : change;',
    test: 'test/store/sqlite/seals.test.ts',
    title: 'are not made or changed by a process without the key ring',
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
