/** The states in which nothing more happens to a delivery by itself. */
export const FINAL: readonly string[] = ['delivered', 'exhausted', 'refused', 'cancelled'];

/** The state of a delivery after an attempt with this outcome. */
export const STATUS_AFTER: Readonly<Record<string, 'delivered' | 'failed' | 'exhausted' | 'refused'>> = {
  delivered: 'delivered',
  retry: 'failed',
  exhausted: 'exhausted',
  refused: 'refused',
};
