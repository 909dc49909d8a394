export interface ErasureOrder {
  /** Null = every entity of the merchant. */
  readonly entityId: string | null;
  /** The merchant's number; null = of any. */
  readonly merchant: number | null;
  readonly acceptedBefore: number;
}

/** The orders to erase an entity's bodies: events accepted before one are kept without bodies, whenever they are recorded. */
export class ErasureOrders {
  readonly #orders = new Map<string | null, ErasureOrder[]>();

  constructor(orders: Iterable<ErasureOrder>) {
    for (const order of orders) this.add(order);
  }

  add(order: ErasureOrder): void {
    const known = this.#orders.get(order.entityId);
    if (known) known.push(order);
    else this.#orders.set(order.entityId, [order]);
  }

  /** Returns whether an event of the entity, accepted then, is kept without its bodies. */
  covers(entityId: string, merchant: number, acceptedAt: number): boolean {
    return this.#cover(entityId, merchant, acceptedAt) || this.#cover(null, merchant, acceptedAt);
  }

  #cover(of: string | null, merchant: number, acceptedAt: number): boolean {
    const orders = this.#orders.get(of);
    if (orders === undefined) return false;
    return orders.some(
      (order) =>
        acceptedAt < order.acceptedBefore && (order.merchant === null || order.merchant === merchant),
    );
  }
}
