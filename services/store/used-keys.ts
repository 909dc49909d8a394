import type { Clock } from '../process/clock.ts';

/** The delay after which uses of API keys are written together. */
const WRITE_AFTER_MS = 10_000;

/** Gathers the uses of API keys, and writes them together. Best effort: the time of a use is not worth a failed request. */
export class UsedKeys {
  readonly #clock: Clock;
  readonly #write: (used: ReadonlyMap<string, number>) => Promise<unknown>;
  #used = new Map<string, number>();
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, write: (used: ReadonlyMap<string, number>) => Promise<unknown>) {
    this.#clock = clock;
    this.#write = write;
  }

  /** `at`: milliseconds since the epoch. */
  add(keyId: string, at: number): void {
    this.#used.set(keyId, Math.max(at, this.#used.get(keyId) ?? 0));
    this.#cancel ??= this.#clock.at(this.#clock.now() + WRITE_AFTER_MS, () => void this.flush());
  }

  /** Writes what was gathered. Resolves also when that failed. */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const used = this.#used;
    this.#used = new Map();
    if (used.size > 0) await this.#write(used).catch(() => {});
  }
}
