/** Counts requests for the rate limits: a part of the store port (store.ts). */
export interface Limits {
  /**
   * Counts one request of a key against one of its limits, over all processes on the store. `used`: the requests of the
   * running window, with this one. A window begins with the first request after the last one ended. Counts may be lost
   * with a crash. Rejects with StoreUnavailable.
   */
  take(
    keyId: string,
    limit: string,
    windowMs: number,
  ): Promise<{ readonly used: number; readonly endsInMs: number }>;
}
