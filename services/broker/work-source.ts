import { growingPause } from '../process/growing-pause.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConsumeLimits, Consumer, Ownership, Source } from './broker.ts';
import type { Feed, Item } from './work.ts';
import { type ConsumerOptions, WorkConsumer } from './work-consumer.ts';

/** Inputs whose handler keeps throwing are held in memory: at this many, nothing new is handed over. */
const STUCK_MAX = 1_000;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 30_000;

interface Options<It extends Item, In, Out> extends ConsumerOptions<It, In, Out> {
  readonly name: string;
  /** The feeds take turns, so that none starves another. */
  readonly feeds: readonly Feed<It>[];
  /** The longest pause after a handler threw; absent: half a minute. */
  readonly pauseMsMax?: number;
  /** Reports that a handler threw; absent: each time is logged. */
  readonly threw?: (error: unknown, item: It) => void;
  readonly log: Logger | undefined;
}

/** Passes work to a handler and its results to the engine: the loop that events, tasks and the journal share, in every engine. */
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
    limits: ConsumeLimits<In, Out>,
  ): Promise<Consumer> {
    if (this.isConsumed) throw new Error(`${this.#options.name} has a consumer already`);
    const consumer = new WorkConsumer(this, this.#options, handler, limits);
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

  /**
   * Returns the handler's result for an input that comes from no feed, or undefined when it must come from one: there is
   * no consumer whose handler is pure, nothing may be handed over now, or the handler throws. Call `used` when the
   * result is used.
   */
  resultOf(input: In): Out | undefined {
    return this.#consumer?.resultOf(input);
  }

  /** Whether another item may be handed over now, and will be settled soon as far as is known. */
  mayTake(input: In): boolean {
    return this.#consumer?.mayTake(input) ?? false;
  }

  /** Whether there is a consumer that takes nothing more for now. */
  get isFull(): boolean {
    return this.isConsumed && this.#consumer?.hasRoom === false;
  }

  /** Hands over an item that comes from no feed, whatever the limits say: ask `mayTake` first. */
  handOver(item: It): void {
    this.#consumer?.handOver(item);
  }

  used(out: Out): void {
    this.#consumer?.used(out);
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
    const { clock, log, name, threw, pauseMsMax = PAUSE_MS_MAX } = this.#options;
    const now = clock.now();
    if (item.failures === 0) item.since = now;
    item.failures += 1;
    this.#stuck.add(item);
    if (threw) threw(error, item);
    else log?.error({ stream: name, failures: item.failures, detail: String(error) }, 'a handler threw');
    const pause = growingPause(item.failures, PAUSE_MS, pauseMsMax);
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
