import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Actor, Store } from '../store/store.ts';

/** Between two steps, so that whoever records and reads comes first. */
const PAUSE_MS = 5;
const OPERATOR: Actor = { kind: 'operator' };

export interface Erased {
  readonly events: number;
  readonly deliveries: number;
}

/** Carries an order out from its beginning, in small steps. One that was cut off is carried out again. */
export async function carryOutErasure(
  deps: { readonly store: Pick<Store, 'erasures'>; readonly clock: Clock },
  erasureId: number,
  signal?: AbortSignal,
): Promise<Erased> {
  const { store, clock } = deps;
  let [events, deliveries] = [0, 0];
  for (let after: string | undefined; ; ) {
    signal?.throwIfAborted();
    const step = await store.erasures.step(erasureId, after);
    events += step.events;
    deliveries += step.deliveries;
    if (step.next === null) break;
    after = step.next;
    await clock.sleep(PAUSE_MS, signal);
  }
  const removed = { events, deliveries };
  await store.erasures.finish(erasureId, removed, { at: clock.now(), actor: OPERATOR });
  return removed;
}

/** Finishes what a process before this one was cut off in. Never rejects: a later start tries again. */
export async function finishErasures(deps: {
  readonly store: Pick<Store, 'erasures'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, log, signal } = deps;
  try {
    for (const erasureId of await store.erasures.unfinished()) {
      const removed = await carryOutErasure(deps, erasureId, signal);
      log.info({ event: 'erasure_finished', erasure: erasureId, ...removed });
    }
  } catch (error) {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ event: 'erasure_failed', reason });
  }
}
