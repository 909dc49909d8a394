import { LinkedList } from '../../process/linked-list.ts';
import type { EndpointLane, LaneNode } from './endpoint-lane.ts';

/** Endpoints that could start an attempt if a slot were free, the longest waiting first: a list per kind of slot. */
export class ReadyLanes {
  readonly #fast = new LinkedList<LaneNode>();
  readonly #slow = new LinkedList<LaneNode>();

  /** Appends the endpoint, unless it waits already. */
  add(lane: EndpointLane): void {
    this.#of(lane).append(lane.ready);
  }

  clear(): void {
    this.#fast.clear();
    this.#slow.clear();
  }

  /** Removes and returns the endpoint whose turn it is; null: `hasSlot` has no slot for any of them. */
  next(hasSlot: (lane: EndpointLane) => boolean): EndpointLane | null {
    return this.#nextOf(this.#fast, hasSlot) ?? this.#nextOf(this.#slow, hasSlot);
  }

  #nextOf(ready: LinkedList<LaneNode>, hasSlot: (lane: EndpointLane) => boolean): EndpointLane | null {
    for (let turn = ready.first; turn; turn = ready.first) {
      const { lane } = turn;
      if (hasSlot(lane)) {
        ready.remove(turn);
        return lane;
      }
      // It has turned slow, or fast again, since it was added: now it waits for the other kind of slot.
      const other = this.#of(lane);
      if (other === ready) return null;
      other.append(turn);
    }
    return null;
  }

  #of(lane: EndpointLane): LinkedList<LaneNode> {
    return lane.isSlow ? this.#slow : this.#fast;
  }
}
