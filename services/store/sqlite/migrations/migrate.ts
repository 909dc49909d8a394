import type { Database } from 'better-sqlite3';
import { management } from './001-management.ts';
import { deliveryLog } from './002-delivery-log.ts';
import { replays } from './003-replays.ts';
import { maintenance } from './004-maintenance.ts';
import { endpointStatus } from './005-endpoint-status.ts';
import { parked } from './006-parked.ts';
import { legacyEndpoint } from './007-legacy-endpoint.ts';
import { merchantLists } from './008-merchant-lists.ts';
import { feed } from './009-feed.ts';
import { refused } from './010-refused.ts';
import { listIndexes } from './011-list-indexes.ts';
import { contents } from './012-contents.ts';
import { outboxById } from './013-outbox-by-id.ts';
import { publishers } from './014-publishers.ts';
import { erased } from './015-erased.ts';
import { seals } from './016-seals.ts';
import { claims } from './017-claims.ts';

/** All migrations in order. Never change one: `user_version` in a file is the number of those applied. */
export const MIGRATIONS: readonly string[] = [
  management,
  deliveryLog,
  replays,
  maintenance,
  endpointStatus,
  parked,
  legacyEndpoint,
  merchantLists,
  feed,
  refused,
  listIndexes,
  contents,
  outboxById,
  publishers,
  erased,
  seals,
  claims,
];

/**
 * Migrates a file to the newest layout, one transaction per migration, so that a crash leaves it between two of them.
 * Throws, naming the file, when a newer build has written it: an older build would lose data that it does not know.
 */
export function migrate(db: Database, file: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > migrations.length) {
    throw new Error(
      `${file} has layout ${version}, this build knows up to ${migrations.length}: run the newer build`,
    );
  }
  for (let next = version; next < migrations.length; next += 1) {
    db.transaction(() => {
      db.exec(migrations[next] ?? '');
      db.pragma(`user_version = ${next + 1}`);
    }).immediate();
  }
}
