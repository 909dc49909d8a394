import type { PlantedBug } from '../planted-bug.ts';

/** Secrets that are prepared for the next rotation. */
export const PREPARED_SECRET_BUGS: readonly PlantedBug[] = [
  {
    id: 'prepared-secret-in-force',
    bug: 'a prepared secret signs every attempt before it is rotated to',
    file: 'services/sender/secret-opener.ts',
    text: 'signedWith === undefined ? [secret, prepared]',
    replacement: 'signedWith === undefined && !prepared ? [secret, prepared]',
    test: 'test/sender/secret-opener.test.ts',
    title: 'a prepared secret signs what asks for it',
  },
  {
    id: 'prepared-secret-of-before',
    bug: 'a rotation puts in force what was prepared before another secret was',
    file: 'services/store/rules/secret-writes.ts',
    text: "if (seen !== undefined && isAnother(row, seen)) return { kind: 'prepared_changed' };",
    replacement: '',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'puts one in force by the rotation that has seen it',
  },
  {
    id: 'prepared-secret-not-sealed',
    bug: 'whoever can write to the database can have a secret of before rotated to',
    file: 'services/domain/seals/canonical-record.ts',
    text: 'prepared === undefined ? null : texts([prepared.keyId, prepared.ciphertext]),',
    replacement: '',
    test: 'test/domain/seals/record-seals.test.ts',
    title: 'does not fit when the',
  },
];
