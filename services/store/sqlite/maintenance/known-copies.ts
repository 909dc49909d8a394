import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../../messages/error-message.ts';
import { noteErased } from './backup-manifest.ts';
import type { BackupRow, ErasedEntity } from './backup-rows.ts';

/** The end of the name of a store that `store restore` has kept. */
const NUMBERED = /^(?:-\d+)?$/;

/** Returns the copies of the store that are there: backups that it made, and files that commands have left beside it. */
export function copiesOf(storeFile: string, backups: readonly BackupRow[]): readonly BackupRow[] {
  const folder = dirname(storeFile);
  const before = `${basename(storeFile)}.before-restore`;
  const isBefore = (name: string) => name.startsWith(before) && NUMBERED.test(name.slice(before.length));
  const beside = readdirSync(folder)
    .filter(isBefore)
    .map((name) => ({ file: join(folder, name), takenAt: statSync(join(folder, name)).mtimeMs }));
  const made = backups.filter(({ file }) => existsSync(file));
  const found = new Map([...beside, ...made].map((copy) => [copy.file, copy]));
  return [...found.values()];
}

/** Notes with each copy that an entity was erased since it was taken. Returns a line for each that still has it. */
export function noteInCopies(copies: readonly BackupRow[], erased: ErasedEntity): readonly string[] {
  return copies
    .filter(({ takenAt }) => takenAt < erased.acceptedBefore)
    .map(({ file, takenAt }) => {
      const of = `the copy ${file} of ${new Date(takenAt).toISOString()}: until it is deleted`;
      try {
        noteErased(file, takenAt, erased);
        return `${of}; store restore erases it there again`;
      } catch (error) {
        return `${of}; it could not be noted there (${messageOf(error)}): erase it again after a store restore`;
      }
    });
}
