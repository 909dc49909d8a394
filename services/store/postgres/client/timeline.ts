import type { Timeline } from '../../outbox.ts';
import type { Transaction } from './statements.ts';

/**
 * SQL: the name of the server's timeline, `<system identifier>/<oid of the database>/<timeline>`. A promotion and a
 * point-in-time restore begin another timeline, and a database that was restored from a dump has another oid. Needs no
 * privilege, and is right at once after a promotion (pg_control_checkpoint shows the old one until the next checkpoint).
 * Fails on a standby.
 */
export const TIMELINE = `(SELECT s.system_identifier || '/' || d.oid || '/' ||
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
  FROM pg_control_system() s, pg_database d WHERE d.datname = current_database())`;

/** The newest timeline that this process has seen of each database: a server that is on an older one was its primary. */
export class SeenTimelines {
  readonly #newest = new Map<string, number>();
  readonly #changed: () => void;
  #last = '';

  /** `changed`: called when the timeline is another one than the last. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Throws when this process has seen a newer one. */
  see(name: string): void {
    const { database, number } = partsOf(name);
    const newest = this.#newest.get(database) ?? 0;
    if (number < newest)
      throw new Error(`${FORMER_PRIMARY}: it is on timeline ${number}, and this process has seen ${newest}`);
    this.#newest.set(database, number);
    if (name === this.#last) return;
    this.#last = name;
    this.#changed();
  }
}

/** The beginning of the error message about a primary that was replaced. */
export const FORMER_PRIMARY = 'the server was replaced by a standby';

/** Returns whether the first is a later timeline of the same database. */
export function isLater(name: string, than: string): boolean {
  const [one, other] = [partsOf(name), partsOf(than)];
  return one.database === other.database && one.number > other.number;
}

function partsOf(name: string): { readonly database: string; readonly number: number } {
  const end = name.lastIndexOf('/');
  return { database: name.slice(0, end), number: Number(name.slice(end + 1)) };
}

/** Returns the server's timeline. Throws when this process has seen a newer one. */
export async function readTimeline(tx: Transaction): Promise<Timeline> {
  const row = await tx.first<{ readonly name: string; readonly reconciled: string | null }>(
    `SELECT ${TIMELINE} AS name, (SELECT value FROM meta WHERE name = 'timeline') AS reconciled`,
  );
  if (!row) throw new Error('the server named no timeline');
  tx.sawTimeline(row.name);
  return { name: row.name, isReconciled: row.reconciled === row.name };
}
