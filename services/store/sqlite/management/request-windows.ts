import type { Clock } from '../../../process/clock.ts';
import type { Limits } from '../../limits.ts';

interface Window {
  used: number;
  /** When it ends, by the clock's `now()`. */
  readonly endsAt: number;
}

/**
 * The running window of each key and limit, in memory: no other process serves this store. By the monotonic clock: after
 * the system's time is set back by an hour, a key at its limit must not be refused for an hour.
 */
export class RequestWindows implements Limits {
  readonly #clock: Clock;
  /** By the length of a window: within one map they end in the order in which they began. */
  readonly #windows = new Map<number, Map<string, Window>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(...[keyId, limit, windowMs]: Parameters<Limits['take']>): ReturnType<Limits['take']> {
    const now = this.#clock.now();
    const windows = this.#windows.get(windowMs) ?? new Map<string, Window>();
    this.#windows.set(windowMs, windows);
    for (const [ended, { endsAt }] of windows) {
      if (endsAt > now) break;
      windows.delete(ended);
    }
    const key = `${limit} ${keyId}`;
    const window = windows.get(key) ?? { used: 0, endsAt: now + windowMs };
    window.used += 1;
    windows.set(key, window);
    return Promise.resolve({ used: window.used, endsInMs: window.endsAt - now });
  }
}
