import { LinkedList } from '../../process/linked-list.ts';
import type { EndpointNode, EndpointState, Kind } from './endpoint-state.ts';

/** Endpoints that could start an attempt if a slot were free, the longest waiting first: a list per kind of slot. */
export class ReadyEndpoints {
  readonly #kindOf: (endpoint: EndpointState) => Kind;
  readonly #lists: Readonly<Record<Kind, LinkedList<EndpointNode>>> = {
    fast: new LinkedList(),
    slow: new LinkedList(),
    dark: new LinkedList(),
  };

  constructor(kindOf: (endpoint: EndpointState) => Kind) {
    this.#kindOf = kindOf;
  }

  /** Appends the endpoint, unless it waits already. */
  add(endpoint: EndpointState): void {
    this.#of(endpoint).append(endpoint.ready);
  }

  clear(): void {
    for (const list of Object.values(this.#lists)) list.clear();
  }

  /** Removes and returns the endpoint whose turn it is; null: `hasSlot` has no slot for any of them. */
  next(hasSlot: (endpoint: EndpointState) => boolean): EndpointState | null {
    const { fast, slow, dark } = this.#lists;
    return this.#nextOf(fast, hasSlot) ?? this.#nextOf(slow, hasSlot) ?? this.#nextOf(dark, hasSlot);
  }

  #nextOf(
    ready: LinkedList<EndpointNode>,
    hasSlot: (endpoint: EndpointState) => boolean,
  ): EndpointState | null {
    for (let turn = ready.first; turn; turn = ready.first) {
      const { endpoint } = turn;
      if (hasSlot(endpoint)) {
        ready.remove(turn);
        return endpoint;
      }
      // It has changed since it was added: now it waits for another kind of slot.
      const other = this.#of(endpoint);
      if (other === ready) return null;
      other.append(turn);
    }
    return null;
  }

  #of(endpoint: EndpointState): LinkedList<EndpointNode> {
    return this.#lists[this.#kindOf(endpoint)];
  }
}
