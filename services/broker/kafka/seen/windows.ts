import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { IdsBudget } from './ids-budget.ts';
import type { SeenEventsOptions } from './repeated-events.ts';

/** Tasks that a process remembers: 24 bytes each and at most as much again for unused room. */
const TASKS_MAX = 4_000_000;
const WARN_MS = 600_000;

/** The limits of a router's memory of event ids. */
export interface RepeatWindow {
  /** Milliseconds of the events topic's own time. */
  readonly windowMs: number;
  /** Ids of all partitions together. */
  readonly idsMax: number;
}

export interface Windows {
  readonly events: SeenEventsOptions;
  readonly tasks: IdsBudget;
}

/** Returns the memory of event ids and tasks of one process. Warns when it reaches its limits. */
export function windowsOf(
  { windowMs, idsMax }: RepeatWindow,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Windows {
  const warner = (detail: object, message: string) => {
    let quietUntil = Number.NEGATIVE_INFINITY;
    return () => {
      if (clock.now() < quietUntil) return;
      quietUntil = clock.now() + WARN_MS;
      log.warn(detail, message);
    };
  };
  const eventsFull = warner(
    { idsMax, windowSeconds: windowMs / 1000 },
    'more event ids arrived within the repeat window than this process may remember: the oldest are forgotten, and an ' +
      'event that is published again is delivered again; raise HOOKRAIL_REPEAT_WINDOW_IDS or run more routers',
  );
  const tasksFull = warner(
    { tasksMax: TASKS_MAX },
    'more tasks than this process can remember: after a crash some attempts may be made twice; run more senders',
  );
  return {
    events: { windowMs, budget: new IdsBudget(idsMax, eventsFull) },
    tasks: new IdsBudget(TASKS_MAX, tasksFull),
  };
}
