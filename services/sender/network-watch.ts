import type { NetworkSign } from './connect-failure.ts';

/** This many must be unreachable, and none reached, before our own network is taken to be at fault. */
const SILENT_MIN = 20;
const WINDOW_MS = 10_000;
/** Bounds the memory: more silent endpoints than this are no better evidence. */
const SILENT_MAX = 1000;
/** A task parked this often because of our network is counted after all: the endpoints may really be dead. */
const PARKED_MAX = 200;

/**
 * Distinguishes a failure of our own network from the receivers' failures. When many endpoints are unreachable and none
 * is reached, it is our fault until shown otherwise: attempts are put back and not counted.
 *
 * Only a response from a receiver's address shows that our network is up. A resolver's SERVFAIL, REFUSED or silence
 * counts like a receiver's silence. A name that does not exist counts once per origin, whatever the number of its
 * endpoints: one wrong name is its merchant's mistake, but a resolver that knows none of twenty names in a row is ours.
 */
export class NetworkWatch {
  /** When each endpoint, or each origin whose name does not exist, was last unreachable. In order of time. */
  readonly #silent = new Map<string, number>();
  #reachedAt = Number.NEGATIVE_INFINITY;

  /**
   * Adds an attempt's evidence, and returns whether its failure is our network's. `hop`: how often it was put back.
   */
  isOurFault(
    sign: NetworkSign,
    to: { readonly endpointId: string; readonly origin: string },
    hop: number,
    now: number,
  ): boolean {
    if (sign === 'unknown') return false;
    if (sign === 'reached') {
      this.#reachedAt = now;
      if (this.#silent.size > 0) this.#silent.clear();
      return false;
    }
    this.#note(sign === 'silent' ? to.endpointId : to.origin, now);
    return this.#silent.size >= SILENT_MIN && now - this.#reachedAt > WINDOW_MS && hop < PARKED_MAX;
  }

  #note(who: string, now: number): void {
    this.#silent.delete(who);
    this.#silent.set(who, now);
    for (const [each, at] of this.#silent) {
      if (now - at <= WINDOW_MS && this.#silent.size <= SILENT_MAX) break;
      this.#silent.delete(each);
    }
  }
}
