import { type DirectoryChange, directoryKey, type Seal } from '../../domain/directory.ts';
import type { RecordSeals, Verdict } from '../../domain/seals/record-seals.ts';
import { RecordRefused } from '../change.ts';

/**
 * The seals of stored merchants and endpoints. Each engine seals what it writes in the transaction that writes it, and
 * changes nothing that somebody without the key ring has changed.
 */

/** The seal of a row; all null: it has none. */
export interface SealColumns {
  readonly seal_key_id: string | null;
  readonly seal_version: number | null;
  readonly seal_mac: string | null;
}

export function sealOf(row: SealColumns): { readonly seal?: Seal } {
  const { seal_key_id: keyId, seal_version: version, seal_mac: mac } = row;
  if (keyId === null || version === null || mac === null) return {};
  return { seal: { keyId, version, mac } };
}

/** Returns the values of a seal's columns, in the order of SealColumns. */
export function sealValues(seal: Seal | undefined): [string | null, number | null, string | null] {
  return [seal?.keyId ?? null, seal?.version ?? null, seal?.mac ?? null];
}

/** Returns whether a change may be built on a stored record. Without the key ring that cannot be told. */
export function isSound(seals: RecordSeals | null, stored: DirectoryChange): boolean {
  return seals === null || seals.isSound(seals.verdict(stored));
}

/** Throws RecordRefused when a stored record is not as a process with the key ring has written it. */
export function refuseUnsound(seals: RecordSeals | null, stored: DirectoryChange): void {
  if (seals === null) return;
  const verdict = seals.verdict(stored);
  if (!seals.isSound(verdict)) throw new RecordRefused(refusal(stored, verdict));
}

/**
 * Returns the record of an endpoint that its failures switch off. A process without the key ring leaves the seal of the
 * version before, and so does one that finds a record which it may not build on: the relay tells them apart.
 */
export function switchedOff<Change extends DirectoryChange>(
  seals: RecordSeals | null,
  change: Change,
  stored: DirectoryChange,
): Change {
  const { seal } = stored;
  if (seals && isSound(seals, stored)) return seals.sealed(change);
  return seal ? { ...change, seal } : change;
}

/** Returns what seals a change of a merchant or an endpoint. Throws RecordRefused when this process has no key ring. */
export function requiredSeals(seals: RecordSeals | null): RecordSeals {
  if (seals) return seals;
  throw new RecordRefused(
    'a change of a merchant or an endpoint needs the key ring, which seals it: this process has not read one (HOOKRAIL_KEYRING)',
  );
}

function refusal(stored: DirectoryChange, verdict: Verdict): string {
  const key = directoryKey(stored);
  if (verdict === 'key_missing')
    return `${key} is sealed with key "${stored.seal?.keyId}", which the key ring lacks: put it back (HOOKRAIL_KEYRING)`;
  return (
    `${key} was changed in the database by something other than hookrail (its seal: ${verdict}), so it cannot be changed: ` +
    'a restart of the process with the role api puts back the newest sealed record of the directory stream'
  );
}
