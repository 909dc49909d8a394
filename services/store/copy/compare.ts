import type { DirectoryChange } from '../../domain/directory.ts';
import type { Random } from '../../process/random.ts';
import type { SnapshotCursor } from '../outbox.ts';
import type { Store } from '../store.ts';
import { CopyRefused } from './copy-refused.ts';
import { differenceOf } from './difference.ts';
import { type LogSample, sampleLog } from './log-sample.ts';
import type { Sqlite } from './source.ts';

/** Deliveries and events that are compared, chosen at random; and places of the feed. */
const DELIVERIES = 1_000;
const EVENTS = 1_000;
const FEED_PLACES = 50;
const FEED_ENTRIES = 20;
const PAGE = 1_000;
/** Comparisons at the same time. */
const AT_A_TIME = 4;

export interface Compared {
  readonly merchants: number;
  readonly keys: number;
  readonly endpoints: number;
  readonly outbox: number;
}

export interface LogCompared {
  readonly deliveries: number;
  readonly events: number;
  readonly feedEntries: number;
}

/** Compares a sample of the log, as the store port shows it. Throws CopyRefused at the first difference. */
export async function compareLog(
  snapshot: Sqlite,
  from: Store,
  to: Store,
  random: Random,
): Promise<LogCompared> {
  const sizes = { deliveries: DELIVERIES, events: EVENTS, feed: FEED_PLACES };
  const sample = sampleLog(snapshot, random, sizes);
  await forEach(sample.deliveries, async ({ merchantId, endpointId, deliveryId }) => {
    const read = (store: Store) => store.log.delivery(merchantId, endpointId, deliveryId);
    refuseDifference(`delivery ${deliveryId}`, await read(from), await read(to));
  });
  await forEach(sample.events, async ({ merchantId, eventId }) => {
    const read = (store: Store) => store.log.event(merchantId, eventId);
    refuseDifference(`event ${eventId}`, await read(from), await read(to));
  });
  let feedEntries = 0;
  await forEach(sample.feed, async (place) => {
    const entries = await compareFeed(place, from, to);
    feedEntries += entries.length;
  });
  return { deliveries: sample.deliveries.length, events: sample.events.length, feedEntries };
}

async function compareFeed(
  { merchantId, seq }: LogSample['feed'][number],
  from: Store,
  to: Store,
): Promise<readonly unknown[]> {
  const read = async (store: Store) => {
    const options = { after: String(seq - 1), limit: FEED_ENTRIES };
    return (await store.feed.read(merchantId, options)).entries.slice(0, FEED_ENTRIES);
  };
  const entries = await read(from);
  refuseDifference(`entries after ${seq - 1} of the feed of ${merchantId}`, entries, await read(to));
  return entries;
}

/** Compares what the api manages, all of it. Throws CopyRefused at the first difference. */
export async function compareManagement(from: Store, to: Store, now: number): Promise<Compared> {
  const merchants = await from.merchants.list();
  refuseDifference('merchants', merchants, await to.merchants.list());
  const keys = await from.keys.list();
  refuseDifference('keys', keys, await to.keys.list());
  const directory = await compareDirectory(from, to);
  const endpoints = await compareEndpoints(directory, from, to);
  const outbox = await compareOutbox(from, to);
  await compareRest(from, to, now);
  return { merchants: merchants.length, keys: keys.length, endpoints, outbox };
}

interface Named {
  readonly uuid: string;
  readonly merchantId: string;
  readonly legacy: boolean;
}

/** Compares the present state of the directory, deleted endpoints included. Returns the endpoints that are not. */
async function compareDirectory(from: Store, to: Store): Promise<readonly Named[]> {
  const endpoints: Named[] = [];
  let after: SnapshotCursor | null = null;
  do {
    const page: Awaited<ReturnType<Store['outbox']['snapshot']>> = await from.outbox.snapshot(after, PAGE);
    refuseDifference('directory', page, await to.outbox.snapshot(after, PAGE));
    endpoints.push(...page.changes.flatMap(endpointOf));
    after = page.next;
  } while (after !== null);
  return endpoints;
}

function endpointOf(change: DirectoryChange): readonly Named[] {
  return change.kind === 'endpoint' && change.value ? [change.value] : [];
}

async function compareEndpoints(endpoints: readonly Named[], from: Store, to: Store): Promise<number> {
  const merchants = [...new Set(endpoints.map(({ merchantId }) => merchantId))];
  const compareOne = async (merchantId: string) => {
    let after: { readonly createdAt: number; readonly uuid: string } | undefined;
    do {
      const options = { limit: PAGE, ...(after === undefined ? {} : { after }) };
      const records = await from.endpoints.list(merchantId, options);
      const others = await to.endpoints.list(merchantId, options);
      refuseDifference(`endpoints of ${merchantId}`, records, others);
      after = records.length < PAGE ? undefined : records.at(-1);
    } while (after !== undefined);
  };
  await forEach(merchants, compareOne);
  for (const { uuid, merchantId } of endpoints.filter(({ legacy }) => legacy)) {
    const read = (store: Store) => store.endpoints.get(merchantId, uuid);
    refuseDifference(`endpoint ${uuid}`, await read(from), await read(to));
  }
  return endpoints.length;
}

async function compareOutbox(from: Store, to: Store): Promise<number> {
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: Awaited<ReturnType<Store['outbox']['pending']>> = await from.outbox.pending(PAGE, after);
    refuseDifference('outbox', rows, await to.outbox.pending(PAGE, after));
    count += rows.length;
    after = rows.at(-1)?.outboxId;
  }
  return count;
}

async function compareRest(from: Store, to: Store, now: number): Promise<void> {
  // Their places are translated.
  const replays = async (store: Store) =>
    (await store.replays.list({ limit: PAGE })).map((replay) => ({ ...replay, place: null }));
  refuseDifference('replays', await replays(from), await replays(to));
  const audit = (store: Store) => store.audit.list({ limit: PAGE });
  refuseDifference('audit', await audit(from), await audit(to));
  refuseDifference('erasures', await from.erasures.unfinished(), await to.erasures.unfinished());
  const sealed = async (store: Store) =>
    [...(await store.sealings.counts(now))].sort((one, other) => (one.keyId < other.keyId ? -1 : 1));
  refuseDifference('sealed values', await sealed(from), await sealed(to));
}

/** Does the work for each, a few at a time. */
async function forEach<Each>(all: readonly Each[], work: (each: Each) => Promise<void>): Promise<void> {
  const left = all.values();
  const next = async () => {
    for (const each of left) await work(each);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, next));
}

function refuseDifference(what: string, from: unknown, to: unknown): void {
  const where = differenceOf(from, to);
  if (where === null) return;
  const path = where === '' ? '' : ` at ${where}`;
  throw new CopyRefused(
    `the copy differs from the SQLite store: ${what}${path}. The service can go on with SQLite; report this`,
  );
}
