import type { Clock } from '../process/clock.ts';
import { LinkedList } from '../process/linked-list.ts';
import type { ConsumeLimits, Consumer, Ownership } from './broker.ts';
import type { Item } from './work.ts';

/** Handler calls in one go before the event loop gets a turn. */
const CALLS_PER_TURN = 512;

export interface ConsumerOptions<It extends Item, In, Out> {
  readonly input: (item: It) => In;
  /**
   * Starts making the results durable, then the item's completion; calls `item.durable()` once it is. Returns false for
   * work that was given back. When it throws, nothing was started.
   */
  readonly settle: (out: Out, item: It) => boolean;
  /** Returns false while downstream work is behind. Call `pump` when that changes. */
  readonly mayHandOver?: () => boolean;
  /** Called after an item was handed over or became durable. */
  readonly progressed?: () => void;
  /** Called when the consumer waits for settled items to become durable: it has no room for more, or stops. */
  readonly awaited?: () => void;
  readonly clock: Clock;
}

/** Where a consumer takes items from, and returns those that it cannot finish. */
interface Supply<It extends Item> {
  next(): It | undefined;
  giveBack(item: It): void;
  failed(item: It, error: unknown): void;
  cutPausesShort(): void;
  durable(item: It): void;
}

/**
 * Passes the items of a supply to one handler. The life of a consumer, and of an item that it hands over:
 *
 *     running ◄──► paused            pause, resume: nothing new is handed over, what runs goes on
 *        └──► draining ◄──┘          stop: the signal fires, pauses are cut short
 *                ├──► drained        each running item is settled and durable, or was given back
 *                └──► abandoned      the deadline passed: what runs is given back, its result is dropped
 *
 *     waiting ──► handed over ──► settled ──► durable
 *        ▲             ├──► given back, when it stops or another process has the work
 *        └── pause ◄───┘ the handler threw: each pause is longer than the one before
 */
export class WorkConsumer<It extends Item, In, Out> implements Consumer {
  readonly #source: Supply<It>;
  readonly #options: ConsumerOptions<It, In, Out>;
  readonly #handler: (input: In, signal: AbortSignal, ownership: () => Ownership) => Out | Promise<Out>;
  readonly #limits: ConsumeLimits<In, Out>;
  readonly #stopping = new AbortController();
  /** Items in a handler that has not resolved yet. */
  readonly #running = new LinkedList<Item>();
  /**
   * Settled items that are not durable yet: they count as in flight, so that memory stays bounded while the disk is
   * full.
   */
  #committing = 0;
  #paused = false;
  #pumping = false;
  #stop: Promise<'drained' | 'abandoned'> | null = null;
  #abandoned = false;
  #whenEmpty: () => void = () => {};
  stopped = false;

  constructor(
    source: Supply<It>,
    options: ConsumerOptions<It, In, Out>,
    handler: (input: In, signal: AbortSignal, ownership: () => Ownership) => Out | Promise<Out>,
    limits: ConsumeLimits<In, Out>,
  ) {
    this.#source = source;
    this.#options = options;
    this.#handler = handler;
    this.#limits = limits;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.pump();
  }

  stop(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    this.#stop ??= this.#drain(deadlineMs);
    return this.#stop;
  }

  /** Hands over as much as may be in flight. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    let calls = 0;
    while (this.hasRoom) {
      if (calls === CALLS_PER_TURN) {
        setImmediate(() => this.pump());
        break;
      }
      const item = this.#source.next();
      if (!item) break;
      calls += 1;
      this.#run(item);
    }
    this.#pumping = false;
    this.#options.progressed?.();
  }

  /** Whether another item may be handed over now. */
  get hasRoom(): boolean {
    const inFlight = this.#running.size + this.#committing;
    if (this.#paused || this.#stop || inFlight >= this.#limits.inFlightMax) return false;
    return this.#options.mayHandOver?.() ?? true;
  }

  mayTake(input: In): boolean {
    return this.hasRoom && (this.#limits.inline?.isPrompt?.(input) ?? true);
  }

  handOver(item: It): void {
    this.#run(item);
  }

  resultOf(input: In): Out | undefined {
    if (!this.#limits.inline?.isPure || !this.hasRoom) return undefined;
    try {
      const out = this.#handler(input, this.#stopping.signal, () => 'owned');
      return isPromise(out) ? undefined : out;
    } catch {
      // It will throw again when the input comes from a feed, and is handled there.
      return undefined;
    }
  }

  used(out: Out): void {
    this.#limits.inline?.used?.(out);
  }

  #run(item: It): void {
    let out: Out | Promise<Out>;
    try {
      out = this.#handler(this.#options.input(item), this.#stopping.signal, () => item.ownership);
    } catch (error) {
      this.#threw(item, error);
      return;
    }
    if (isPromise(out)) {
      this.#running.append(item);
      out.then(
        (value) => this.#settle(item, value),
        (error) => this.#threw(item, error),
      );
    } else this.#settle(item, out);
  }

  #settle(item: It, out: Out): void {
    if (this.#abandoned) return;
    this.#running.remove(item);
    this.#committing += 1;
    item.settledBy = this;
    let isSettled = false;
    try {
      isSettled = this.#options.settle(out, item);
      // Giving back is allowed only while stopping; otherwise the item would be handed over and given back for ever.
      if (!isSettled && !this.#stop && item.ownership !== 'lost')
        throw new Error('work was released without a stop request');
    } catch (error) {
      this.#committing -= 1;
      this.#threw(item, error);
      return;
    }
    if (isSettled) {
      this.used(out);
      if (this.#committing > 0 && !this.hasRoom) this.#options.awaited?.();
      return;
    }
    this.#committing -= 1;
    if (item.ownership !== 'lost') this.#source.giveBack(item);
    this.#checkEmpty();
    this.#pumpSoon();
  }

  durable(item: Item): void {
    this.#committing -= 1;
    this.#source.durable(item as It);
    if (this.#stop) this.#checkEmpty();
    else this.#pumpSoon();
  }

  #pumpScheduled = false;

  /** Pumps once for all items that one commit made durable. */
  #pumpSoon(): void {
    if (this.#pumpScheduled) return;
    this.#pumpScheduled = true;
    queueMicrotask(() => {
      this.#pumpScheduled = false;
      this.pump();
    });
  }

  #threw(item: It, error: unknown): void {
    if (this.#abandoned) return;
    this.#running.remove(item);
    if (this.#stop) this.#source.giveBack(item);
    else this.#source.failed(item, error);
    this.#checkEmpty();
    this.#pumpSoon();
  }

  async #drain(deadlineMs: number): Promise<'drained' | 'abandoned'> {
    const { clock } = this.#options;
    this.#stopping.abort();
    this.#source.cutPausesShort();
    this.#options.awaited?.();
    let cancel = () => {};
    const inTime = await new Promise<boolean>((resolve) => {
      this.#whenEmpty = () => resolve(true);
      cancel = clock.at(clock.now() + deadlineMs, () => resolve(false));
      // Checked after this call has returned: the handlers see the signal first.
      queueMicrotask(() => this.#checkEmpty());
    });
    cancel();
    this.#abandoned = true;
    for (const item of this.#running.nodes()) this.#source.giveBack(item as It);
    this.#running.clear();
    this.stopped = true;
    return inTime ? 'drained' : 'abandoned';
  }

  #checkEmpty(): void {
    if (this.#stop && this.#running.size + this.#committing === 0) this.#whenEmpty();
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null)?.then === 'function';
}
