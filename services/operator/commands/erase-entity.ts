import type { Broker, RecordStore } from '../../broker/broker.ts';
import { messageOf } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import { type Actor, OPERATOR } from '../../store/change.ts';
import type { ErasureOrder } from '../../store/maintenance.ts';
import type { Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** The pause between two steps, which gives recording and reads precedence. */
const PAUSE_MS = 5;
/** How often the store is checked for unfinished orders. */
const LOOK_MS = 60_000;
/** How long an order is left to the operator's tool that may be carrying it out: both would report a part of it. */
const LEFT_TO_OTHERS_MS = 300_000;
/** Records read together: each holds a body. */
const RECORDS_PAGE = 100;

export type RecordStores = Pick<Broker, 'quarantine' | 'deadLetters' | 'capabilities' | 'remnants'>;

export interface Erased {
  readonly events: number;
  readonly deliveries: number;
  /** The quarantined records and dead letters that were removed; null where retention deletes them. */
  readonly removedRecords: number | null;
  /** Where something of the entity may still be, and until when. */
  readonly remains: readonly string[];
}

interface EraseDeps {
  readonly store: Pick<Store, 'erasures'>;
  /** Null = they have nothing of it. */
  readonly recordStores: RecordStores | null;
  readonly clock: Clock;
  /** Absent: the service finishes what another process has begun. */
  readonly actor?: Actor;
}

/** Carries out an order from its beginning, in small steps. After an interruption it is carried out again. */
export async function carryOutErasure(
  { store, recordStores, clock, actor = OPERATOR }: EraseDeps,
  order: ErasureOrder,
  signal?: AbortSignal,
): Promise<Erased> {
  const removedRecords =
    recordStores === null || recordStores.capabilities.hasRetention
      ? null
      : await clearRecordStores(recordStores, order);
  let [events, deliveries] = [0, 0];
  for (let after: string | undefined; ; ) {
    signal?.throwIfAborted();
    const step = await store.erasures.step(order.erasureId, after);
    events += step.events;
    deliveries += step.deliveries;
    if (step.next === null) break;
    after = step.next;
    await clock.sleep(PAUSE_MS, signal);
  }
  const removed = { events, deliveries };
  // Before it is finished: after a crash all of it is done again.
  const remains = [
    ...(await store.erasures.purge()),
    ...(recordStores === null ? [] : await remainsOnStreams(recordStores, clock)),
    ...(await store.erasures.noteInBackups(order.erasureId)),
  ];
  await store.erasures.finish(order.erasureId, removed, { at: clock.wall(), actor });
  return { ...removed, removedRecords, remains };
}

/**
 * Carries out what a store that was restored has of unfinished orders, while no service runs. The broker's records are no part
 * of a backup. Returns how many there were.
 */
export async function finishOffline(deps: Omit<EraseDeps, 'recordStores'>): Promise<number> {
  const orders = await deps.store.erasures.unfinished();
  for (const order of orders) await carryOutErasure({ ...deps, recordStores: null }, order);
  return orders.length;
}

async function remainsOnStreams(
  { remnants }: Pick<RecordStores, 'remnants'>,
  clock: Clock,
): Promise<readonly string[]> {
  const left = await remnants.purge();
  const kept = await remnants.kept();
  const now = clock.wall();
  return [...left, ...kept.map(({ where, forMs }) => `${where}: ${untilOf(now + forMs)}`)];
}

function untilOf(at: number): string {
  return Number.isFinite(at)
    ? `until ${new Date(at).toISOString()}`
    : 'for ever, because its retention has no end';
}

async function clearRecordStores(
  { deadLetters, quarantine }: RecordStores,
  order: ErasureOrder,
): Promise<number> {
  const { entityId, merchantId } = order;
  const isOf = (merchant: string | null) => merchantId === null || merchant === merchantId;
  const letters = await clearRecordStore(
    deadLetters,
    ({ task }) => (entityId === null || task.entityId === entityId) && isOf(task.merchantId),
  );
  // A record that cannot be routed may not be readable either, so its bytes are searched.
  const quarantined = await clearRecordStore(
    quarantine,
    (record) =>
      isOf(record.merchantId) &&
      (entityId === null ||
        record.entityId === entityId ||
        Buffer.from(record.bytes).toString('latin1').toLowerCase().includes(entityId)),
  );
  return letters + quarantined;
}

async function clearRecordStore<Item>(
  store: RecordStore<Item>,
  isOf: (record: Item) => boolean,
): Promise<number> {
  let cleared = 0;
  for (let after: string | undefined; ; ) {
    const page = await store.list({ limit: RECORDS_PAGE, ...(after === undefined ? {} : { after }) });
    const found = page.filter(({ record }) => isOf(record)).map(({ position }) => position);
    await store.forget(found);
    cleared += found.length;
    after = page.at(-1)?.position;
    if (after === undefined) return cleared;
  }
}

/**
 * Finishes orders that another process left unfinished, until `signal` fires: those there at the beginning at once, later
 * ones once they have been there for five minutes. Never rejects: an order that could not be finished is tried again.
 */
export async function finishErasures(
  deps: EraseDeps & { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { clock, log, signal } = deps;
  const foundAt = new Map<number, number>();
  for (let leftMs = 0; !signal.aborted; leftMs = LEFT_TO_OTHERS_MS) {
    try {
      await finishFound(deps, foundAt, leftMs);
    } catch (error) {
      if (signal.aborted) return;
      log.error({ event: 'erasure_failed', reason: messageOf(error) });
    }
    await clock.sleep(LOOK_MS, signal);
  }
}

/** `foundAt`: when each unfinished order was first found, by its number. */
async function finishFound(
  deps: EraseDeps & { readonly log: Logger; readonly signal: AbortSignal },
  foundAt: Map<number, number>,
  leftMs: number,
): Promise<void> {
  const { store, clock, log, signal } = deps;
  const orders = await store.erasures.unfinished();
  for (const order of orders) {
    const { erasureId } = order;
    const since = foundAt.get(erasureId) ?? clock.now();
    foundAt.set(erasureId, since);
    if (clock.now() - since < leftMs) continue;
    const removed = await carryOutErasure(deps, order, signal);
    foundAt.delete(erasureId);
    log.info({ event: 'erasure_finished', erasure: erasureId, ...removed });
  }
}
