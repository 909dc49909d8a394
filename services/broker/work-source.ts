import type { Clock } from '../process/clock.ts';
import { growingPause } from '../process/growing-pause.ts';
import { LinkedList } from '../process/linked-list.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Consumer, Ownership, Source } from './broker.ts';
import type { Feed, Item } from './work.ts';

/** Inputs whose handler keeps throwing are held in memory: at this many, nothing new is handed over. */
const STUCK_MAX = 1_000;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 30_000;
/** Handler calls in one go before the event loop gets a turn. */
const CALLS_PER_TURN = 512;

interface Options<It extends Item, In, Out> {
  readonly name: string;
  /** The feeds take turns, so that none starves another. */
  readonly feeds: readonly Feed<It>[];
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
  readonly clock: Clock;
  readonly log: Logger | undefined;
}

/** Passes work to a handler and its results to the engine: the loop that events and tasks share, in every engine. */
export class WorkSource<It extends Item, In, Out> implements Source<In, Out> {
  readonly #options: Options<It, In, Out>;
  /** Handed over before anything new: items whose pause has ended, and those that an earlier consumer left. */
  readonly #again: It[] = [];
  /** Items whose handler has thrown at least once, not settled yet. */
  readonly #stuck = new Set<It>();
  #consumer: WorkConsumer<It, In, Out> | null = null;
  #turn = 0;

  constructor(options: Options<It, In, Out>) {
    this.#options = options;
    for (const feed of options.feeds) feed.onAvailable = () => this.pump();
  }

  async consume(
    handler: (input: In, signal: AbortSignal, ownership: () => Ownership) => Out | Promise<Out>,
    limits: { readonly inFlightMax: number },
  ): Promise<Consumer> {
    if (this.isConsumed) throw new Error(`${this.#options.name} has a consumer already`);
    const consumer = new WorkConsumer(this, this.#options, handler, limits.inFlightMax);
    this.#consumer = consumer;
    consumer.pump();
    return consumer;
  }

  /** Whether there is a consumer. */
  get isConsumed(): boolean {
    return this.#consumer !== null && !this.#consumer.stopped;
  }

  /** Hands over as much as is allowed now. */
  pump(): void {
    this.#consumer?.pump();
  }

  get stuck(): { readonly count: number; readonly since: number } {
    let since = Number.POSITIVE_INFINITY;
    for (const item of this.#stuck) since = Math.min(since, item.since);
    return { count: this.#stuck.size, since };
  }

  /** Ends the current consumer. Used when the engine closes. */
  async stop(deadlineMs: number): Promise<void> {
    await this.#consumer?.stop(deadlineMs);
  }

  next(): It | undefined {
    for (let again = this.#again.shift(); again; again = this.#again.shift()) {
      if (again.ownership !== 'lost') return again;
      this.#stuck.delete(again);
    }
    if (this.#stuck.size >= STUCK_MAX) return undefined;
    const { feeds } = this.#options;
    for (let tried = 0; tried < feeds.length; tried += 1) {
      this.#turn = (this.#turn + 1) % feeds.length;
      const item = feeds[this.#turn]?.take();
      if (item) return item;
    }
    return undefined;
  }

  /** Puts an item back for the next consumer. */
  giveBack(item: It): void {
    this.#again.push(item);
  }

  /** Holds an item whose handler threw for a growing pause. */
  failed(item: It, error: unknown): void {
    const { clock, log, name } = this.#options;
    const now = clock.now();
    if (item.failures === 0) item.since = now;
    item.failures += 1;
    this.#stuck.add(item);
    log?.error({ stream: name, failures: item.failures, detail: String(error) }, 'a handler threw');
    const pause = growingPause(item.failures, PAUSE_MS, PAUSE_MS_MAX);
    item.cancel = clock.at(now + pause, () => {
      item.cancel = null;
      this.#again.push(item);
      this.#consumer?.pump();
    });
  }

  /** Ends all pauses: the items go to the next consumer. */
  cutPausesShort(): void {
    for (const item of this.#stuck) {
      if (!item.cancel) continue;
      item.cancel();
      item.cancel = null;
      this.#again.push(item);
    }
  }

  durable(item: It): void {
    if (item.failures > 0) this.#stuck.delete(item);
    item.completed();
  }
}

class WorkConsumer<It extends Item, In, Out> implements Consumer {
  readonly #source: WorkSource<It, In, Out>;
  readonly #options: Options<It, In, Out>;
  readonly #handler: (input: In, signal: AbortSignal, ownership: () => Ownership) => Out | Promise<Out>;
  readonly #inFlightMax: number;
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
    source: WorkSource<It, In, Out>,
    options: Options<It, In, Out>,
    handler: (input: In, signal: AbortSignal, ownership: () => Ownership) => Out | Promise<Out>,
    inFlightMax: number,
  ) {
    this.#source = source;
    this.#options = options;
    this.#handler = handler;
    this.#inFlightMax = inFlightMax;
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
    while (this.#mayTake()) {
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

  #mayTake(): boolean {
    if (this.#paused || this.#stop || this.#running.size + this.#committing >= this.#inFlightMax)
      return false;
    return this.#options.mayHandOver?.() ?? true;
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
    if (isSettled) return;
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
