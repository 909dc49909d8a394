/** A place in at most one list: extended by what is to be in it. */
export class Link<Self> {
  /** Only the list writes these. */
  before: Self | null = null;
  after: Self | null = null;
  list: { remove(node: Self): void } | null = null;
}

/**
 * What comes and goes thousands of times a second, in the order it came. Not a Set: each table of a Set points to the one
 * that replaced it, so once one of them has grown old for the garbage collector, whatever comes into the Set from then on
 * outlives the young collections (V8, OrderedHashTable::Rehash).
 */
export class LinkedList<Node extends Link<Node>> {
  #first: Node | null = null;
  #last: Node | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Node | null {
    return this.#first;
  }

  /** Puts it at the end, and out of another list. One that is in this list already stays where it is. */
  append(node: Node): void {
    if (node.list === this) return;
    node.list?.remove(node);
    node.list = this;
    node.before = this.#last;
    if (this.#last) this.#last.after = node;
    else this.#first = node;
    this.#last = node;
    this.#size += 1;
  }

  /** One that is not in the list is left alone. */
  remove(node: Node): void {
    if (node.list !== this) return;
    const { before, after } = node;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    node.list = null;
    node.before = null;
    node.after = null;
    this.#size -= 1;
  }

  /** All of them as they are now, the first first. */
  nodes(): Node[] {
    const nodes: Node[] = [];
    for (let node = this.#first; node; node = node.after) nodes.push(node);
    return nodes;
  }

  clear(): void {
    while (this.#first) this.remove(this.#first);
  }
}
