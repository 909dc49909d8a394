import type { Directory } from '../domain/directory.ts';
import type { Store } from '../store/store.ts';

const PAGE = 1000;

/**
 * Applies the changes that are committed but not yet on the DIRECTORY stream: they were made while no relay ran. The
 * relay publishes them as usual; followers ignore them then, because their versions are known. Older ones than the
 * stream has, of a restored store, are ignored now.
 */
export async function applyPending(
  store: Pick<Store, 'outbox'>,
  directory: Pick<Directory, 'apply'>,
): Promise<void> {
  let last: number | undefined;
  do {
    const page = await store.outbox.pending(PAGE, last);
    for (const { change } of page) directory.apply(change);
    last = page.at(-1)?.outboxId;
  } while (last !== undefined);
}
