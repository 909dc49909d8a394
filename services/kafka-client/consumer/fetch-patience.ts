import type { Clock } from '../../process/clock.ts';

/**
 * The longest wait of an idle consumer's fetch, milliseconds; a record ends it at once. kafkajs sends heartbeats
 * between fetches and handles a pause, a seek, a stop and a rebalance there too, so it must not exceed a heartbeat.
 */
const IDLE_WAIT_MS = 1000;
const IDLE_AFTER_MS = 5000;

/**
 * Decides how long a consumer's fetches wait for records: briefly while it reads, since a partition that is resumed or
 * sought is fetched only after the current fetch; ten times longer once nothing has happened for a while.
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

  /** A record was read, or the partitions to fetch have changed. */
  stir(): void {
    this.#busyAt = this.#clock.now();
  }

  /**
   * The value for kafkajs's `maxWaitTimeInMs`, a constant of the consumer. It is used only as a number, at every fetch,
   * so an object with `valueOf` is evaluated each time.
   */
  get asMaxWait(): number {
    return { valueOf: () => this.#waitMs() } as unknown as number;
  }

  #waitMs(): number {
    const isIdle = this.#clock.now() - this.#busyAt >= IDLE_AFTER_MS;
    return isIdle ? Math.max(IDLE_WAIT_MS, this.#busyWaitMs) : this.#busyWaitMs;
  }
}
