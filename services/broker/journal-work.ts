import type { JournalBatch } from '../domain/journal.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Outage } from '../telemetry/outage.ts';
import type { Feed, Item } from './work.ts';
import { WorkSource } from './work-source.ts';

/** Short, so that the log catches up as soon as its store is back. */
const PAUSE_MS_MAX = 5000;

/** The journal as work. An item is a partition's turn, one at a time; the result says whether a batch was accepted. */
export type JournalWork<It extends Item> = WorkSource<It, It, boolean>;

/**
 * Returns the source that passes the turns of partitions to a handler. That the journal cannot be recorded is one line in
 * the log, and that it can again, too, however many batches fail.
 */
export function journalWork<It extends Item>(options: {
  readonly feed: Feed<It>;
  /** Returns the batch of a turn, where it was made. */
  readonly batchOf: (item: It) => JournalBatch | undefined;
  readonly accepted: (item: It) => void;
  readonly clock: Clock;
  readonly log: Logger | undefined;
}): JournalWork<It> {
  const { feed, batchOf, accepted, clock, log } = options;
  const stream = 'journal';
  const outage = new Outage<JournalBatch | undefined>(
    (error, batch) =>
      log?.error(
        {
          ...{ stream, partition: batch?.partition, first: batch?.first, last: batch?.last },
          detail: String(error),
        },
        'the journal cannot be recorded; retrying until it succeeds',
      ),
    () => log?.info({ stream }, 'the journal is recorded again'),
  );
  const work: JournalWork<It> = new WorkSource({
    name: 'the journal',
    feeds: [feed],
    input: (item) => item,
    // The store has made the batch durable.
    settle: (isAccepted, item) => {
      item.durable();
      if (!isAccepted) return true;
      accepted(item);
      if (work.stuck.count === 0) outage.succeeded();
      return true;
    },
    pauseMsMax: PAUSE_MS_MAX,
    threw: (error, item) => outage.failed(error, batchOf(item)),
    clock,
    log,
  });
  return work;
}
