import { formatCountdown } from '../../client/duration.ts';
import type { ServiceClock } from '../../client/service-clock.ts';
import type { DeliveryWatch } from '../client/delivery-watch.ts';
import type { EventSink, Sent } from '../sinks/sinks.ts';
import type { PlannedAction, PlannedStep } from './plan.ts';
import type { Condition } from './scenario-format.ts';

export interface PlayOptions {
  readonly sink: EventSink;
  /** The factor by which playing is faster than the scenario's clock; Infinity = without any pause. */
  readonly speed: number;
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** The clock of the service that the events go to. */
  readonly clock: ServiceClock;
  /** `sentAt` is the service's time, milliseconds since the epoch. */
  readonly onSent: (step: PlannedStep, sent: Sent, sentAt: number) => void;
  /** Follows the deliveries of the events. */
  readonly watch?: DeliveryWatch | undefined;
  /** The time that deliveries are followed after the last step, milliseconds. */
  readonly watchMs: number;
  /** Says what is waited for until the function that it returns is called (Output.waiting). */
  readonly waiting: (text: () => string) => () => void;
  /** The steps that are no events, and what performs them. */
  readonly actions?: readonly PlannedAction[] | undefined;
  readonly stage?: Stage | undefined;
  /** Returns whether the deliveries of a step are followed; by default those of all are. */
  readonly isFollowed?: ((step: PlannedStep) => boolean) | undefined;
}

/** Performs a scenario's actions on endpoints and receivers, and waits for its conditions (simulator/stage). */
export interface Stage {
  /** Does what a step says that is not an event. */
  perform(action: PlannedAction): Promise<void>;
  /** Waits until the condition of a step holds. Throws a failure when it does not in time. */
  until(condition: Condition): Promise<void>;
}

const LOOK_MS = 50;

/** `unfinished`: the time ran out, or Ctrl-C came, before every delivery had ended. */
export type Played = 'finished' | 'unfinished';

/** Sends the steps at their times and follows their deliveries. Rejects with the first failure of sink or API. */
export async function play(steps: readonly PlannedStep[], options: PlayOptions): Promise<Played> {
  const { watch, watchMs, pause, signal, clock } = options;
  if (!watch) {
    await sendAll(steps, options, () => {});
    return signal.aborted ? 'unfinished' : 'finished';
  }
  let failure: { readonly error: unknown } | undefined;
  const watching = watch.run().catch((error: unknown) => {
    failure = { error };
  });
  const check = () => {
    if (failure) throw failure.error;
  };
  let ended = () => {};
  try {
    await watch.ready;
    await sendAll(steps, options, check);
    const deadline = Date.now() + watchMs;
    ended = options.waiting(() => watch.waitingFor(clock.now()));
    const isSettled = () => watch.isSettled(deadline + clock.aheadMs);
    while (!isSettled() && Date.now() < deadline && !signal.aborted) {
      check();
      await pause(LOOK_MS);
    }
    check();
    return isSettled() ? 'finished' : 'unfinished';
  } finally {
    ended();
    watch.stop();
    await watching;
  }
}

async function sendAll(
  steps: readonly PlannedStep[],
  options: PlayOptions,
  check: () => void,
): Promise<void> {
  const { speed, pause, signal, stage, waiting } = options;
  // Measured from the start, so that sending times do not add up.
  let startedAt = Date.now();
  let isFirst = true;
  for (const item of timeline(steps, options.actions ?? [])) {
    const waitMs = startedAt + sentMs(item) / speed - Date.now();
    if (waitMs > 0) {
      const dueAt = Date.now() + waitMs;
      const ended = waiting(() => `next: ${nameOf(item)} in ${formatCountdown(dueAt - Date.now())}`);
      await pause(waitMs).finally(ended);
    }
    if (signal.aborted) return;
    check();
    if (item.when !== undefined && stage !== undefined) {
      const waitedFrom = Date.now();
      const ended = waiting(() => `${nameOf(item)} waits for ${describeCondition(item.when as Condition)}`);
      await stage.until(item.when).finally(ended);
      // The steps behind it keep their distance.
      startedAt += Date.now() - waitedFrom;
      if (signal.aborted) return;
    }
    if (!('event' in item)) {
      await stage?.perform(item);
      continue;
    }
    const tookMs = await send(item, options);
    // The first takes longer than the others, which keep their distance to when it was accepted: half way, about.
    if (isFirst) startedAt += tookMs / 2;
    isFirst = false;
  }
}

/** Returns how long the sink took, milliseconds. */
async function send(step: PlannedStep, options: PlayOptions): Promise<number> {
  const { sink, clock, onSent, watch, isFollowed = () => true } = options;
  const startedAt = Date.now();
  const [sent] = await sink.send([step.event]);
  const tookMs = Date.now() - startedAt;
  // The response has shown the service's clock.
  const sentAt = startedAt + clock.aheadMs;
  onSent(step, sent ?? { status: 'accepted' }, sentAt);
  // Quarantined events are never routed: there is nothing to follow.
  if (sent?.status !== 'quarantined' && isFollowed(step)) watch?.follow(step.id, step.event.eventId, sentAt);
  return tookMs;
}

/** Returns events and actions in the order in which they are sent and done. */
export function timeline(
  steps: readonly PlannedStep[],
  actions: readonly PlannedAction[],
): readonly (PlannedStep | PlannedAction)[] {
  const isPlain = actions.length === 0 && steps.every(({ lateMs = 0 }) => lateMs === 0);
  // Steps of a caller who chose their order keep it.
  if (isPlain) return steps;
  return [...steps, ...actions].sort((a, b) => sentMs(a) - sentMs(b) || (a.order ?? 0) - (b.order ?? 0));
}

function sentMs(item: PlannedStep | PlannedAction): number {
  return item.offsetMs + ('event' in item ? (item.lateMs ?? 0) : 0);
}

function nameOf(item: PlannedStep | PlannedAction): string {
  return 'event' in item ? `${item.event.type}/${item.event.subType}` : item.id;
}

/** Returns a condition in words, for a line that says what is waited for. */
export function describeCondition(condition: Condition): string {
  const { kind, status } = condition;
  return kind === 'delivery' ? `"${condition.step}" ${status}` : `endpoint ${condition.endpoint} ${status}`;
}
