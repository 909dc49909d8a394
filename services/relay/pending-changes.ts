import type { Directory } from '../domain/directory.ts';
import type { Store } from '../store/store.ts';
import { type PublishChecks, publishable } from './publishable.ts';

const PAGE = 1000;

/**
 * Applies the changes that are committed but not yet on the DIRECTORY stream: they were made while no relay ran. The
 * relay publishes them as usual; followers ignore them then, because their versions are known. Older ones than the
 * stream has, of a restored store, are ignored now, and so is what the relay would refuse. Rejects when the key ring lacks
 * the key of a change.
 */
export async function applyPending(
  store: Pick<Store, 'outbox'>,
  {
    directory,
    checks,
  }: { readonly directory: Pick<Directory, 'apply'>; readonly checks: PublishChecks | null },
): Promise<void> {
  let last: number | undefined;
  do {
    const page = await store.outbox.pending(PAGE, last);
    for (const { change } of page) {
      const published = publishable(change, checks);
      if (published) directory.apply(published);
    }
    last = page.at(-1)?.outboxId;
  } while (last !== undefined);
}
