import type { TaskClass } from '../domain/task.ts';
import type { Transport } from './http/transport.ts';
import { LANE_OPTIONS, type LaneOptions } from './lanes/lane-options.ts';

interface LaneDeps {
  readonly options: { readonly inFlightMax: number; readonly lanes?: Partial<LaneOptions> };
  readonly retryScale: number;
  readonly transport: Pick<Transport, 'connectionsOpened'>;
}

/** Tests and replays have budgets of their own, as shares of the live one, so that neither delays it. */
export const IN_FLIGHT_SHARE: Readonly<Record<TaskClass, number>> = { live: 1, test: 1 / 16, replay: 1 / 8 };
const IN_FLIGHT_MIN = 16;

/** Returns a part of a budget, which small budgets do not make too small. */
export function share(total: number, part: number): number {
  return Math.max(Math.min(IN_FLIGHT_MIN, total), Math.floor(total * part));
}

/**
 * Derives the slots from the tasks that may be in flight: a quarter each may be fast, slow and waiting, and an eighth
 * may turn slow beyond that. The rest is for tasks whose settlement is not durable yet: without it, endpoints that do
 * not answer would stop the intake.
 */
export function laneOptions({ options, retryScale, transport }: LaneDeps, part: number): LaneOptions {
  const total = share(options.inFlightMax, part);
  return {
    ...LANE_OPTIONS,
    fastSlots: Math.max(1, Math.floor(total / 4)),
    slowSlots: Math.max(1, Math.floor(total / 4)),
    slowSlotsMost: Math.max(1, Math.floor((total * 3) / 8)),
    waitingMax: Math.max(1, Math.floor(total / 4)),
    retryScale,
    opened: () => transport.connectionsOpened,
    ...options.lanes,
  };
}
