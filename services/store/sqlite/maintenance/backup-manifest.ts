import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { ErasedEntity } from './backup-rows.ts';

/** Says of a backup when it was taken, and which entities were erased since: they are in it still. */
export interface BackupManifest {
  readonly backup: string;
  /** ISO 8601. */
  readonly takenAt: string;
  readonly bytes: number;
  readonly erasedSince: readonly ErasedEntity[];
}

/** Returns the path of a backup's manifest. */
function manifestOf(backup: string): string {
  return `${backup}.manifest.json`;
}

/** Returns a backup's manifest; undefined when it has none. Throws one line when it cannot be read. */
export function readManifest(backup: string): BackupManifest | undefined {
  const file = manifestOf(backup);
  if (!existsSync(file)) return undefined;
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as BackupManifest;
    if (!Array.isArray(found.erasedSince)) throw new Error('it has no list erasedSince');
    return found;
  } catch (error) {
    throw new Error(
      `${file} is not the manifest of a backup (${(error as Error).message}): restore it, too, or move it away`,
    );
  }
}

/** Writes the manifest of a new backup, unless an erasure has noted something there already. */
export function noteBackup(
  backup: string,
  { takenAt, bytes }: { readonly takenAt: number; readonly bytes: number },
): void {
  if (readManifest(backup)) return;
  write(backup, {
    backup: basename(backup),
    takenAt: new Date(takenAt).toISOString(),
    bytes,
    erasedSince: [],
  });
}

/** Notes in the manifest of a backup that an entity was erased since. Noting it again changes nothing. */
export function noteErased(backup: string, takenAt: number, erased: ErasedEntity): void {
  const known = readManifest(backup);
  const { erasedSince = [] } = known ?? {};
  if (erasedSince.some((each) => isSame(each, erased))) return;
  const isoTaken = new Date(takenAt).toISOString();
  const before = known ?? { backup: basename(backup), takenAt: isoTaken, bytes: 0 };
  write(backup, { ...before, erasedSince: [...erasedSince, erased] });
}

/** Returns whether two orders are one. */
export function isSame(one: ErasedEntity, other: ErasedEntity): boolean {
  return (
    one.entityId === other.entityId &&
    one.merchantId === other.merchantId &&
    one.acceptedBefore === other.acceptedBefore
  );
}

function write(backup: string, manifest: BackupManifest): void {
  const file = manifestOf(backup);
  const partial = `${file}.partial`;
  writeFileSync(partial, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  const descriptor = openSync(partial, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(partial, file);
}
