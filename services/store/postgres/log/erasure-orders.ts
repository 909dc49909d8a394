interface Order {
  readonly entityId: string;
  /** Null = of any merchant. */
  readonly merchant: number | null;
  readonly acceptedBefore: number;
}

/** The orders to erase an entity's bodies, as a batch sees them: events accepted before one are kept without bodies. */
export class ErasureOrders {
  readonly #orders = new Map<string, Order[]>();

  constructor(orders: Iterable<Order>) {
    for (const order of orders)
      this.#orders.set(order.entityId, [...(this.#orders.get(order.entityId) ?? []), order]);
  }

  /** Whether an event of the entity, accepted then, is kept without its bodies. */
  covers(entityId: string, merchant: number, acceptedAt: number): boolean {
    const orders = this.#orders.get(entityId);
    if (orders === undefined) return false;
    return orders.some(
      (order) =>
        acceptedAt < order.acceptedBefore && (order.merchant === null || order.merchant === merchant),
    );
  }
}
