import type { Logger } from '../telemetry/logger.ts';
import { Outage } from '../telemetry/outage.ts';
import type { JournalBatch } from './broker.ts';

/** The lines that say that the journal cannot be recorded, and that it can again: one each, however many batches fail. */
export class JournalOutage {
  readonly #outage: Outage<JournalBatch | undefined>;

  constructor(log: Logger | undefined) {
    const stream = 'journal';
    this.#outage = new Outage(
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
  }

  /** `batch`: the one that was not accepted, where it was made. */
  failed(error: unknown, batch: JournalBatch | undefined): void {
    this.#outage.failed(error, batch);
  }

  /** Call it when no batch fails any more. */
  succeeded(): void {
    this.#outage.succeeded();
  }
}
