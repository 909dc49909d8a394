import type { Delivery } from '../../api/shapes.ts';

const ORDER = ['exhausted', 'refused', 'failed', 'pending', 'cancelled', 'delivered'];

/** Returns deliveries by how bad their status is; those of one status keep their order. */
export function failedFirst<One extends Pick<Delivery, 'status'>>(
  deliveries: readonly One[],
): readonly One[] {
  const rank = ({ status }: One) => (ORDER.includes(status) ? ORDER.indexOf(status) : ORDER.length);
  return [...deliveries].sort((one, other) => rank(one) - rank(other));
}
