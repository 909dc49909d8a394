import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** Two clocks gain or lose at most this much on each other, milliseconds per millisecond. */
const DRIFT = 0.000_2;
/** The interval of an idle process. Until the first response, and after a sign that a clock was set, it is shorter. */
const ASK_MS = 300_000;
const ASK_SOON_MS = 2000;
/** A broker that has acknowledged nothing for this long no longer counts, if another has. */
const FORGET_MS = 600_000;
/** A larger difference is logged. */
const TOLD_MS = 1000;
/** A smaller gain need not wake what waits. */
const GAIN_MS_MIN = 1;

/** Brokers' time minus this process's `now()`: it lies between the two, as of `at`. */
interface Offset {
  readonly least: number;
  readonly most: number;
  readonly at: number;
}

/**
 * The brokers' time, in terms of this process's clock.
 *
 * Delays are measured by the brokers' clocks (LogAppendTime), because machines of this service may have wrong ones. A
 * broker appends between the moment a request is sent and the moment its acknowledgement arrives, so the append time in
 * it bounds the difference of the two clocks from both sides. Bounds of several acknowledgements are intersected; they
 * widen slowly, since clocks drift. An acknowledgement that contradicts them shows that a clock was set, and replaces
 * them at once. Each broker has bounds of its own; all are used together: `now()` is a time that every broker has reached.
 */
export class BrokerTime {
  /** Called when the brokers' time turned out to be later than was known: what waits may be due. */
  onGain: () => void = () => {};
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #brokers = new Map<number, Offset>();
  #ask: (() => void) | null = null;
  #cancelAsking: () => void = () => {};
  #askedAt = Number.NEGATIVE_INFINITY;
  #isReported = false;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Calls `ask` now and whenever no broker has acknowledged anything for a while. It must write a record, whose
   * acknowledgement goes to `acknowledged`.
   */
  keepKnown(ask: () => void): void {
    this.#ask = ask;
    this.#askNow();
    this.#lookLater();
  }

  /** Stops asking. */
  close(): void {
    this.#ask = null;
    this.#cancelAsking();
  }

  /** A broker acknowledged a record that it appended at `appendedAt`; the request was sent at `sentAt` or later. */
  acknowledged(broker: number, appendedAt: number, sentAt: number): void {
    const at = this.#clock.now();
    // Append times are whole milliseconds, rounded down.
    const observed = { least: appendedAt - at, most: appendedAt + 1 - sentAt, at };
    const before = this.#least(at);
    const known = this.#brokers.get(broker);
    this.#brokers.set(broker, known ? narrowed(widened(known, at), observed) : observed);
    for (const [id, offset] of this.#brokers) if (at - offset.at > FORGET_MS) this.#brokers.delete(id);
    this.#tell();
    if (before === null || (this.#least(at) ?? before) - before >= GAIN_MS_MIN) this.onGain();
  }

  /** A record with this append time was read. A time in the future shows that a clock was set. */
  read(appendedAt: number): void {
    const now = this.#clock.now();
    const most = this.#most(now);
    if (most === null || appendedAt <= now + most || now - this.#askedAt < ASK_SOON_MS) return;
    this.#askNow();
  }

  /** False until the first acknowledgement: then nothing may be treated as due. */
  get isKnown(): boolean {
    return this.#brokers.size > 0;
  }

  /** Returns a time that the clocks of all brokers have reached; −Infinity while nothing is known of them. */
  now(): number {
    const now = this.#clock.now();
    return now + (this.#least(now) ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * Returns the moment of this process's clock by which all brokers have reached a time of theirs. 0 stays 0: at once.
   */
  toClock(at: number): number {
    return at === 0 ? 0 : at - (this.#least(this.#clock.now()) ?? 0);
  }

  /** Returns the latest time that any broker's clock shows at a moment of this process's clock. 0 stays 0: at once. */
  fromClock(at: number): number {
    return at === 0 ? 0 : Math.ceil(at + (this.#most(this.#clock.now()) ?? 0));
  }

  /**
   * The least by which a broker's clock is ahead of this process's, milliseconds; negative: behind. 0 while the two may
   * agree. Of several brokers, the one that differs most.
   */
  get offsetMs(): number {
    let most = 0;
    for (const offset of this.#brokers.values()) {
      const proved = Math.max(0, offset.least) + Math.min(0, offset.most);
      if (Math.abs(proved) > Math.abs(most)) most = proved;
    }
    return most;
  }

  #least(now: number): number | null {
    let least: number | null = null;
    for (const offset of this.#brokers.values()) {
      const own = widened(offset, now).least;
      if (least === null || own < least) least = own;
    }
    return least;
  }

  #most(now: number): number | null {
    let most: number | null = null;
    for (const offset of this.#brokers.values()) {
      const own = widened(offset, now).most;
      if (most === null || own > most) most = own;
    }
    return most;
  }

  #askNow(): void {
    this.#askedAt = this.#clock.now();
    this.#ask?.();
  }

  #lookLater(): void {
    this.#cancelAsking = this.#clock.at(this.#clock.now() + ASK_SOON_MS, () => {
      if (!this.#ask) return;
      const heardAt = Math.max(...[...this.#brokers.values()].map(({ at }) => at));
      if (this.#clock.now() - heardAt >= ASK_MS) this.#askNow();
      this.#lookLater();
    });
  }

  #tell(): void {
    const offsetMs = this.offsetMs;
    const isWrong = Math.abs(offsetMs) > TOLD_MS;
    if (isWrong === this.#isReported) return;
    this.#isReported = isWrong;
    const seconds = Math.round(Math.abs(offsetMs) / 100) / 10;
    if (isWrong) {
      const side = offsetMs > 0 ? 'behind' : 'ahead of';
      this.#log.warn(
        { offsetMs: Math.round(offsetMs) },
        `this machine's clock is ${seconds} s ${side} the brokers'; retries follow the brokers'. Check the time ` +
          'synchronisation (NTP) of both; then restart this process, which keeps the time it started with',
      );
    } else this.#log.info('the clocks of this machine and of the brokers agree again');
  }
}

function widened({ least, most, at }: Offset, now: number): Offset {
  const drift = DRIFT * Math.max(0, now - at);
  return { least: least - drift, most: most + drift, at };
}

/** Both are true, unless a clock was set: then the later observation wins. */
function narrowed(known: Offset, observed: Offset): Offset {
  const least = Math.max(known.least, observed.least);
  const most = Math.min(known.most, observed.most);
  return least > most ? observed : { least, most, at: observed.at };
}
