/** This many different endpoints must be unreachable, with nobody reached, before it is taken for our own fault. */
const ENDPOINTS_MIN = 20;
const WINDOW_MS = 10_000;
/** Memory is bounded: more silent endpoints than this make nothing clearer. */
const ENDPOINTS_MAX = 1000;
/** A task put back this often because of our network is counted after all: so many endpoints may really be dead. */
const PARKED_MAX = 200;

/**
 * Tells our own network's failure from the receivers' (reliability.md, "own network down"). When everybody is
 * unreachable at once it is our fault until shown otherwise: attempts are put back and not counted.
 */
export class NetworkWatch {
  /** When each endpoint last was silent: nothing at all came back. In order of time. */
  readonly #silent = new Map<string, number>();
  #reachedAt = Number.NEGATIVE_INFINITY;

  /** Somebody answered, with whatever: our network is up. */
  reached(now: number): void {
    this.#reachedAt = now;
    if (this.#silent.size > 0) this.#silent.clear();
  }

  /** Nothing came back from an endpoint. Answers whether that is to be taken for our fault. `hop`: times parked. */
  isOurFault(endpointId: string, hop: number, now: number): boolean {
    this.#silent.delete(endpointId);
    this.#silent.set(endpointId, now);
    for (const [id, at] of this.#silent) {
      if (now - at <= WINDOW_MS && this.#silent.size <= ENDPOINTS_MAX) break;
      this.#silent.delete(id);
    }
    return this.#silent.size >= ENDPOINTS_MIN && now - this.#reachedAt > WINDOW_MS && hop < PARKED_MAX;
  }
}
