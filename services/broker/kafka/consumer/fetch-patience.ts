import type { Clock } from '../../../process/clock.ts';

/**
 * An idle consumer's fetch waits so long for a record, which ends the wait at once; milliseconds. kafkajs sends heartbeats
 * between fetches and hears of a pause, a seek, a stop and a rebalance there too, so it cannot be longer than a heartbeat.
 */
const IDLE_WAIT_MS = 1000;
const IDLE_AFTER_MS = 5000;

/**
 * How long a consumer's fetches wait where nothing comes: shortly while it reads, since a partition that is resumed or sought
 * to is fetched only when the fetch under way is over; ten times longer once nothing has happened for a while.
 */
export class FetchPatience {
  readonly #clock: Clock;
  readonly #busyWaitMs: number;
  #busyAt: number;

  constructor(clock: Clock, busyWaitMs: number) {
    this.#clock = clock;
    this.#busyWaitMs = busyWaitMs;
    this.#busyAt = clock.now();
  }

  /** Something was read, or what is to be fetched has changed. */
  stir(): void {
    this.#busyAt = this.#clock.now();
  }

  /**
   * For kafkajs's `maxWaitTimeInMs`, which is a constant of the consumer: it is only ever used as a number, at every fetch,
   * so an object with `valueOf` is asked each time.
   */
  get asMaxWait(): number {
    return { valueOf: () => this.#waitMs() } as unknown as number;
  }

  #waitMs(): number {
    const isIdle = this.#clock.now() - this.#busyAt >= IDLE_AFTER_MS;
    return isIdle ? Math.max(IDLE_WAIT_MS, this.#busyWaitMs) : this.#busyWaitMs;
  }
}
