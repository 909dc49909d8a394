import type { DeliveryWatch } from '../client/delivery-watch.ts';
import { formatCountdown } from '../duration.ts';
import type { EventSink, Sent } from '../sinks/sinks.ts';
import type { PlannedStep } from './plan.ts';

export interface PlayOptions {
  readonly sink: EventSink;
  /** The factor by which playing is faster than the scenario's clock; Infinity = without any pause. */
  readonly speed: number;
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onSent: (step: PlannedStep, sent: Sent, sentAt: number) => void;
  /** Follows the deliveries of the events. */
  readonly watch?: DeliveryWatch | undefined;
  /** The time that deliveries are followed after the last step, milliseconds. */
  readonly watchMs: number;
  /** Says what is waited for until the function that it returns is called (Output.waiting). */
  readonly waiting: (text: () => string) => () => void;
}

const LOOK_MS = 50;

/** `unfinished`: the time ran out, or Ctrl-C came, before every delivery had ended. */
export type Played = 'finished' | 'unfinished';

/** Sends the steps at their times and follows their deliveries. Rejects with the first failure of sink or API. */
export async function play(steps: readonly PlannedStep[], options: PlayOptions): Promise<Played> {
  const { watch, watchMs, pause, signal } = options;
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
    ended = options.waiting(() => watch.waitingFor(Date.now()));
    while (!watch.isSettled(deadline) && Date.now() < deadline && !signal.aborted) {
      check();
      await pause(LOOK_MS);
    }
    check();
    return watch.isSettled(deadline) ? 'finished' : 'unfinished';
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
  const { sink, speed, pause, signal, onSent, watch, waiting } = options;
  // Measured from the start, so that sending times do not add up.
  let startedAt = Date.now();
  for (const [index, step] of steps.entries()) {
    const waitMs = startedAt + step.offsetMs / speed - Date.now();
    if (waitMs > 0) {
      const dueAt = Date.now() + waitMs;
      const name = `${step.event.type}/${step.event.subType}`;
      const ended = waiting(() => `next: ${name} in ${formatCountdown(dueAt - Date.now())}`);
      await pause(waitMs).finally(ended);
    }
    if (signal.aborted) return;
    check();
    const sentAt = Date.now();
    const [sent] = await sink.send([step.event]);
    // The first takes longer than the others, which keep their distance to when it was accepted: half way, about.
    if (index === 0) startedAt += (Date.now() - sentAt) / 2;
    onSent(step, sent ?? { status: 'accepted' }, sentAt);
    // Quarantined events are never routed: there is nothing to follow.
    if (sent?.status !== 'quarantined') watch?.follow(step.id, step.event.eventId, sentAt);
  }
}
