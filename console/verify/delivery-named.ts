/** The delivery whose request the screen begins with; none: an empty one. */
export interface DeliveryNamed {
  readonly endpoint?: string;
  readonly delivery?: string;
}

/** Reads the address of the screen. */
export function deliveryNamedIn({ endpoint, delivery }: Readonly<Record<string, unknown>>): DeliveryNamed {
  return typeof endpoint === 'string' && typeof delivery === 'string' ? { endpoint, delivery } : {};
}
