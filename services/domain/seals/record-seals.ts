import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { DirectoryChange, Seal } from '../directory.ts';
import { canonicalRecord } from './canonical-record.ts';

/** The keys that seal records, each derived from a key of the key ring. */
export interface SealKeys {
  /** The id of the key that seals. */
  readonly active: string;
  /** Returns undefined when the ring lacks the key. */
  sealKey(keyId: string): KeyObject | undefined;
}

/**
 * - `valid`: made with the key ring, and not changed since.
 * - `switched_off`: valid but for a process without the key ring that switched the endpoint off since.
 * - `unsealed`: no seal.
 * - `stale`: the seal is that of another version of the record.
 * - `forged`: the seal does not fit the record.
 * - `key_missing`: the key ring lacks the key, so it cannot be told.
 */
export type Verdict = 'valid' | 'switched_off' | 'unsealed' | 'stale' | 'forged' | 'key_missing';

/** Versions up to this many below the largest whole number are left to changes. */
const VERSIONS_LEFT = 2 ** 40;

/** Returns whether versions are left above one that somebody else has written. */
export function mayExceed(version: number): boolean {
  return version < Number.MAX_SAFE_INTEGER - VERSIONS_LEFT;
}

/**
 * Seals directory records, and checks seals: an HMAC-SHA256 over the whole record. Whoever can write the directory's
 * topic or the database, and does not have the key ring, can make no record of their own.
 */
export class RecordSeals {
  readonly #keys: SealKeys;

  constructor(keys: SealKeys) {
    this.#keys = keys;
  }

  /** The id of the key that seals. */
  get active(): string {
    return this.#keys.active;
  }

  /** Returns the record with a seal of the active key. */
  sealed<Change extends DirectoryChange>(change: Change): Change & { readonly seal: Seal } {
    const keyId = this.#keys.active;
    const key = this.#keys.sealKey(keyId);
    if (!key) throw new Error(`the key ring has no key "${keyId}"`);
    return {
      ...change,
      seal: { keyId, version: change.version, mac: macOf(change, key).toString('base64') },
    };
  }

  verdict(change: DirectoryChange): Verdict {
    const { seal } = change;
    if (!seal) return 'unsealed';
    const key = this.#keys.sealKey(seal.keyId);
    if (!key) return 'key_missing';
    if (seal.version === change.version) return fits(change, seal, key) ? 'valid' : 'forged';
    const base = beforeSwitchOff(change, seal.version);
    return base && fits(base, seal, key) ? 'switched_off' : 'stale';
  }

  /** Returns whether a record with this verdict is in force in the store. */
  isSound(verdict: Verdict): boolean {
    return verdict === 'valid' || verdict === 'switched_off';
  }
}

/** Returns the endpoint as it was sealed, if it can have been switched off since. */
function beforeSwitchOff(change: DirectoryChange, version: number): DirectoryChange | null {
  if (change.kind !== 'endpoint' || change.value?.status !== 'auto_disabled') return null;
  if (version >= change.version) return null;
  return { ...change, version, value: { ...change.value, version, status: 'active' } };
}

function fits(change: DirectoryChange, { mac }: Seal, key: KeyObject): boolean {
  const given = Buffer.from(`${mac}`, 'base64');
  try {
    const expected = macOf(change, key);
    return given.length === expected.length && timingSafeEqual(given, expected);
  } catch {
    // Not a record that was ever made here.
    return false;
  }
}

function macOf(change: DirectoryChange, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(canonicalRecord(change)).digest();
}
