import { Listeners } from '../../../process/listeners.ts';
import type { Replays } from '../../replays.ts';
import { missedPage } from '../../rules/reads/missed-page.ts';
import type { Reads } from '../../rules/reads.ts';
import type { Writes } from '../../rules/writes.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { replayReads } from './missed-reads.ts';

/** Replays, with a listener for those that a transaction of this process created. */
export function makeReplays(
  database: PostgresDatabase,
  reads: Reads,
  writes: Writes,
): { readonly replays: Replays; added(): void } {
  const listeners = new Listeners();
  const replays = {
    ...reads.replays,
    ...writes.replays,
    missed: (...args: Parameters<Replays['missed']>) =>
      database.read((statements) => missedPage(statements, replayReads, ...args)),
    onAdded: (listener: () => void) => listeners.add(listener),
  };
  return { replays, added: () => listeners.call() };
}
