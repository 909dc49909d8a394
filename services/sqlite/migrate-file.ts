import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { connect } from './connect.ts';
import { isDamage } from './database.ts';

const APPLICATION_BITS = 31;

/**
 * Migrates a file to the newest layout, one transaction per migration, so that a crash leaves it between two of them.
 * `user_version` is the number of those applied; `application_id` stands for the text of the first one, so that a build
 * knows a file whose tables another build has made. Throws the line that `layoutFault` returns.
 */
export function migrateFile(db: Database, file: string, migrations: readonly string[]): void {
  const fault = layoutFault(db, file, migrations);
  if (fault !== undefined) throw new Error(fault);
  for (let next = layoutOf(db); next < migrations.length; next += 1) {
    db.transaction(() => {
      db.exec(migrations[next] ?? '');
      db.pragma(`application_id = ${idOf(migrations)}`);
      db.pragma(`user_version = ${next + 1}`);
    }).immediate();
  }
}

/**
 * Returns one line that says why a build with these migrations cannot use the file, with what helps; undefined when it can,
 * or the file is empty. A newer build may store what an older one does not know, and would lose.
 */
export function layoutFault(db: Database, file: string, migrations: readonly string[]): string | undefined {
  const layout = layoutOf(db);
  const folder = dirname(file);
  if (layout === 0) {
    const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get();
    return tables === 0 ? undefined : `${file} is the database of another program: move it away`;
  }
  const wrote = Number(db.pragma('application_id', { simple: true }));
  const knows = idOf(migrations);
  if (wrote !== knows)
    return (
      `${file} was written by another build (layout ${wrote.toString(16)}, this one has ${knows.toString(16)}), and before ` +
      '0.1.0 no build reads the databases of another: run that build, or keep them beside and begin anew: ' +
      `mkdir ${folder}/former && mv ${folder}/*.db* ${folder}/former`
    );
  if (layout > migrations.length)
    return `${file} has layout ${layout}, this build knows up to ${migrations.length}: run the newer build`;
  return undefined;
}

/** Returns the same of a file that no process need have open; undefined also where there is none, or it is damaged. */
export function layoutFaultOf(file: string, migrations: readonly string[]): string | undefined {
  if (!existsSync(file)) return undefined;
  const db = connect(file, { readonly: true });
  try {
    return layoutFault(db, file, migrations);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  } finally {
    db.close();
  }
}

function layoutOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** Returns a number that stands for the first migration, never 0, which SQLite gives a file by default. */
function idOf([first = '']: readonly string[]): number {
  const hash = createHash('sha256').update(first).digest();
  return (hash.readUInt32BE(0) >>> (32 - APPLICATION_BITS)) | 1;
}
