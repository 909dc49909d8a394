import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { EventSink, Sent } from '../sinks/sinks.ts';

export interface LoadPlan {
  /** Events a second. */
  readonly rate: number;
  readonly durationMs: number;
}

/** The progress of a load, in events. */
export interface LoadCounts {
  /** Sent, whether or not they are accepted yet. */
  sent: number;
  accepted: number;
  refused: number;
  /** Not sent, because too many requests were open. */
  heldBack: number;
}

export interface OpenLoopOptions {
  readonly plan: LoadPlan;
  readonly sink: EventSink;
  readonly next: (now: number) => DomainEvent;
  readonly signal: AbortSignal;
  readonly pause: (ms: number) => Promise<void>;
  readonly counts: LoadCounts;
  /** Called before an event is sent, with the time when it was due. */
  readonly onSend: (event: DomainEvent, dueAt: number) => void;
  readonly onRefused: (event: DomainEvent) => void;
}

/** The rate that a load kept. */
export interface LoadHeld {
  /** The time from the first event's due time to the last sending, milliseconds. */
  readonly tookMs: number;
  /** Events a second that were sent. */
  readonly rate: number;
  /** The first refusal of a request, if there was one. */
  readonly refusal: unknown;
}

/** Events are due every so often, several at once: they go in one request, as a producer batches them. */
const TICK_MS = 10;
/** Requests that may be open at once. A service that is slower than the load must not fill this process's memory. */
const OPEN_MAX = 256;
const BATCH_MAX = 500;

/**
 * Sends events at their times, whether or not the service keeps up (an open loop): a slow response delays no other event.
 * Resolves when every request is over. Never rejects for a refusal.
 */
export async function runOpenLoop(options: OpenLoopOptions): Promise<LoadHeld> {
  const { plan, signal, pause, counts } = options;
  const total = Math.round((plan.rate * plan.durationMs) / 1000);
  const open = new Set<Promise<void>>();
  let refusal: unknown;
  const startedAt = Date.now();
  const dueAt = (index: number) => startedAt + Math.floor((index * 1000) / plan.rate / TICK_MS) * TICK_MS;
  let index = 0;
  while (index < total && !signal.aborted) {
    const now = Date.now();
    const first = index;
    while (index < total && index - first < BATCH_MAX && dueAt(index) <= now) index += 1;
    if (index > first && open.size >= OPEN_MAX) counts.heldBack += index - first;
    else if (index > first) {
      const request = sendBatch(options, first, index, dueAt).catch((error: unknown) => {
        refusal ??= error;
      });
      const tracked: Promise<void> = request.finally(() => open.delete(tracked));
      open.add(tracked);
    }
    const waitMs = dueAt(index) - Date.now();
    if (waitMs > 0) await pause(waitMs);
    // A loop that is late must let responses in.
    else await nextTurn();
  }
  // Up to the end of the last interval, unless it was late.
  const tookMs = Math.max(Date.now() - startedAt, (index * 1000) / plan.rate);
  await Promise.all(open);
  return { tookMs, rate: (counts.sent * 1000) / tookMs, refusal };
}

async function sendBatch(
  { sink, next, counts, onSend, onRefused }: OpenLoopOptions,
  first: number,
  end: number,
  dueAt: (index: number) => number,
): Promise<void> {
  const events: DomainEvent[] = [];
  for (let index = first; index < end; index += 1) {
    const event = next(Date.now());
    events.push(event);
    onSend(event, dueAt(index));
  }
  counts.sent += events.length;
  let sent: readonly Sent[];
  try {
    sent = await sink.send(events);
  } catch (error) {
    counts.refused += events.length;
    for (const event of events) onRefused(event);
    throw error;
  }
  for (const [index, { status }] of sent.entries()) {
    if (status === 'accepted') counts.accepted += 1;
    else {
      counts.refused += 1;
      onRefused(events[index] as DomainEvent);
    }
  }
}
