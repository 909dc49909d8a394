import type { Directory, DirectoryChange } from '../domain/directory.ts';
import { mayExceed } from '../domain/seals/record-seals.ts';
import type { Clock } from '../process/clock.ts';
import { pollUntil } from '../process/poll-until.ts';
import type { RecordAbove, SnapshotCursor, SnapshotPage } from '../store/outbox.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { PublishChecks } from './publishable.ts';

const PAGE = 1000;
/** The longest that no change comes back. */
const STILL_MS_MAX = 30_000;
const POLL_MS = 20;

export interface ReconcileDeps {
  readonly store: Pick<Store, 'outbox'>;
  /** Caught up with the DIRECTORY stream. */
  readonly directory: Pick<Directory, 'newest' | 'all'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Null or absent: the store's records are taken as they are. */
  readonly checks?: Pick<PublishChecks, 'seals' | 'refused'> | null | undefined;
}

/**
 * Makes store and DIRECTORY stream agree again, before the api serves. Normally they do; they differ when the stream
 * was replaced (another engine, topics created anew) or the store was (restored from a backup, failed over). On both sides
 * the higher version of a key wins: changes that the stream lacks go to the outbox again, newer ones of the stream are
 * copied to the store, above all deletes. A store that never held anything is new, and copies nothing. A record of the
 * store that does not fit its seal is replaced by the stream's, whatever their versions.
 *
 * Another process may change an endpoint meanwhile, and looks then like a difference. So the store looks at each again,
 * under the lock of its row, and only actual changes are logged.
 */
export async function reconcile({
  store,
  directory,
  clock,
  log,
  checks,
}: ReconcileDeps): Promise<readonly DirectoryChange[]> {
  const { lacking, ahead, known, covered } = await compare({ store, directory, checks });
  if (covered.length > 0) {
    const raised = await store.outbox.addAbove(covered);
    log.warn(
      { keys: raised },
      'the directory stream has records that something other than hookrail has written: publishing those of the store with higher versions',
    );
  }
  const pending = await pendingIds(store);
  // Skips changes that are in the outbox already, or that have arrived meanwhile.
  const again = lacking.filter(
    (change) => !pending.has(change.id) && isOlder(directory.newest(change), change),
  );
  let added = 0;
  for (let from = 0; from < again.length; from += PAGE)
    added += await store.outbox.addAgain(again.slice(from, from + PAGE));
  if (added > 0) {
    log.warn({ keys: added }, 'the directory stream lacks changes of the store: publishing them again');
  }
  for (const change of directory.all()) if (!known.has(change.id)) ahead.push(change);
  if (ahead.length > 0 && known.size === 0) {
    log.warn(
      { keys: ahead.length },
      'the directory stream has merchants and endpoints that this new store lacks: if the previous store was lost, stop and restore a backup',
    );
  } else if (ahead.length > 0) {
    const adopted = await store.outbox.adopt(ahead, clock.wall());
    if (adopted > 0)
      log.warn(
        { keys: adopted },
        'the directory stream was ahead of the store, or the store was changed by others: records of the stream were copied to the store',
      );
  }
  // Both are waited for: events must not be routed without them.
  const raised = covered.filter(({ above }) => mayExceed(above));
  return [
    ...lacking,
    ...raised.map((record): DirectoryChange => ({ ...record, version: record.above + 1, value: null })),
  ];
}

function isAhead(known: DirectoryChange | undefined, { version }: DirectoryChange): boolean {
  return known !== undefined && known.version > version;
}

function isOlder(known: DirectoryChange | undefined, { version }: DirectoryChange): boolean {
  return known === undefined || known.version < version;
}

/**
 * Resolves when the changes have come back on the stream, so that no event is routed without them, however long that takes
 * for a large store; without those that are missing when none has come back for 30 s.
 */
export async function untilPropagated(
  lacking: readonly DirectoryChange[],
  { directory, clock, log }: Omit<ReconcileDeps, 'store'>,
): Promise<void> {
  const isMissing = (change: DirectoryChange) => isOlder(directory.newest(change), change);
  let next = 0;
  const areAllBack = () => {
    for (let change = lacking[next]; change && !isMissing(change); change = lacking[next]) next += 1;
    return next === lacking.length;
  };
  let before: number;
  do {
    before = next;
    if (await pollUntil(clock, areAllBack, { everyMs: POLL_MS, atMostMs: STILL_MS_MAX })) return;
  } while (next > before);
  log.warn(
    { keys: lacking.filter(isMissing).length },
    'published directory changes have not come back on the stream: continuing without them',
  );
}

interface Difference {
  /** The stream has an older version, or none. */
  readonly lacking: DirectoryChange[];
  /** The stream has a newer version: its own. */
  readonly ahead: DirectoryChange[];
  /** The stream has a version that is refused, and at least as high. */
  readonly covered: RecordAbove[];
  /** Ids of all merchants and endpoints the store has, or had. */
  readonly known: ReadonlySet<string>;
}

async function compare({
  store,
  directory,
  checks,
}: Pick<ReconcileDeps, 'store' | 'directory' | 'checks'>): Promise<Difference> {
  const lacking: DirectoryChange[] = [];
  const ahead: DirectoryChange[] = [];
  const covered: RecordAbove[] = [];
  const known = new Set<string>();
  let after: SnapshotCursor | null = null;
  do {
    const page: SnapshotPage = await store.outbox.snapshot(after, PAGE);
    for (const change of page.changes) {
      known.add(change.id);
      const newest = directory.newest(change);
      const isChanged = checks ? isChangedByOthers(change, checks) : false;
      const above = checks?.refused.refusedVersion(change) ?? 0;
      if (isChanged && newest) ahead.push(newest);
      else if (isChanged) continue;
      else if (above >= change.version && !isAhead(newest, change))
        covered.push({ kind: change.kind, id: change.id, above });
      else if (isOlder(newest, change)) lacking.push(change);
      else if (newest && isAhead(newest, change)) ahead.push(newest);
    }
    after = page.next;
  } while (after !== null);
  return { lacking, ahead, covered, known };
}

/** Returns whether something other than hookrail has written a record of the store. */
function isChangedByOthers(
  change: DirectoryChange,
  { seals, refused }: Pick<PublishChecks, 'seals' | 'refused'>,
): boolean {
  const verdict = seals.verdict(change);
  if (seals.isSound(verdict) || verdict === 'key_missing') return false;
  refused.note('store', change, verdict);
  return true;
}

async function pendingIds(store: ReconcileDeps['store']): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let last: number | undefined;
  do {
    const page = await store.outbox.pending(PAGE, last);
    for (const { change } of page) ids.add(change.id);
    last = page.at(-1)?.outboxId;
  } while (last !== undefined);
  return ids;
}
