import { Listeners } from '../../../process/listeners.ts';
import type { Outbox } from '../../outbox.ts';
import type { Reads } from '../../rules/reads.ts';
import type { Writes } from '../../rules/writes.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { readTimeline } from '../client/timeline.ts';
import { acceptChanges } from './reconciliation.ts';

/** The outbox, with a listener for the rows that a transaction of this process added. */
export function makeOutbox(
  database: PostgresDatabase,
  reads: Reads,
  writes: Writes,
): { readonly outbox: Outbox; added(): void } {
  const listeners = new Listeners();
  const outbox = {
    ...reads.outbox,
    ...writes.outbox,
    onAdded: (listener: () => void) => listeners.add(listener),
    timeline: () => database.transaction(readTimeline),
    reconciled: (timeline: string) => database.transaction((tx) => acceptChanges(tx, timeline)),
  };
  return { outbox, added: () => listeners.call() };
}
