import { LinkedList } from '../../process/linked-list.ts';
import type { EndpointLane, Kind, LaneNode } from './endpoint-lane.ts';

/** Endpoints that could start an attempt if a slot were free, the longest waiting first: a list per kind of slot. */
export class ReadyLanes {
  readonly #kindOf: (lane: EndpointLane) => Kind;
  readonly #lists: Readonly<Record<Kind, LinkedList<LaneNode>>> = {
    fast: new LinkedList(),
    slow: new LinkedList(),
    dark: new LinkedList(),
  };

  constructor(kindOf: (lane: EndpointLane) => Kind) {
    this.#kindOf = kindOf;
  }

  /** Appends the endpoint, unless it waits already. */
  add(lane: EndpointLane): void {
    this.#of(lane).append(lane.ready);
  }

  clear(): void {
    for (const list of Object.values(this.#lists)) list.clear();
  }

  /** Removes and returns the endpoint whose turn it is; null: `hasSlot` has no slot for any of them. */
  next(hasSlot: (lane: EndpointLane) => boolean): EndpointLane | null {
    const { fast, slow, dark } = this.#lists;
    return this.#nextOf(fast, hasSlot) ?? this.#nextOf(slow, hasSlot) ?? this.#nextOf(dark, hasSlot);
  }

  #nextOf(ready: LinkedList<LaneNode>, hasSlot: (lane: EndpointLane) => boolean): EndpointLane | null {
    for (let turn = ready.first; turn; turn = ready.first) {
      const { lane } = turn;
      if (hasSlot(lane)) {
        ready.remove(turn);
        return lane;
      }
      // It has changed since it was added: now it waits for another kind of slot.
      const other = this.#of(lane);
      if (other === ready) return null;
      other.append(turn);
    }
    return null;
  }

  #of(lane: EndpointLane): LinkedList<LaneNode> {
    return this.#lists[this.#kindOf(lane)];
  }
}
