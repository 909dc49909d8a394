/** Ids remembered over all endpoints. Further tasks come up when they are due. */
const IDS_MAX = 1_000_000;

/** The ids of parked tasks by endpoint, the longest parked first: those that wait in memory or in the file. */
export class ParkedIds {
  readonly #ids = new Map<string, Set<number>>();
  #count = 0;

  add(endpointId: string, id: number): void {
    if (this.#count >= IDS_MAX) return;
    const ids = this.#ids.get(endpointId) ?? new Set();
    if (ids.size === 0) this.#ids.set(endpointId, ids);
    ids.add(id);
    this.#count += 1;
  }

  /** Forgets a task that is handed over. */
  remove(endpointId: string, id: number): void {
    const ids = this.#ids.get(endpointId);
    if (!ids?.delete(id)) return;
    this.#count -= 1;
    if (ids.size === 0) this.#ids.delete(endpointId);
  }

  /** Removes and returns the first ones, at most this many. */
  take(endpointId: string, most: number): number[] {
    const taken: number[] = [];
    for (const id of this.#ids.get(endpointId) ?? []) {
      if (taken.length >= most) break;
      taken.push(id);
    }
    for (const id of taken) this.remove(endpointId, id);
    return taken;
  }
}
