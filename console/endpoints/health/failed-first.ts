import type { Delivery } from '../../api/shapes.ts';

const ORDER = ['exhausted', 'refused', 'failed', 'pending', 'cancelled', 'delivered'];

/** Returns deliveries by how bad their status is, tests last; those of one status keep their order. */
export function failedFirst<One extends Pick<Delivery, 'status' | 'trigger'>>(
  deliveries: readonly One[],
): readonly One[] {
  const rank = ({ status, trigger }: One) =>
    trigger === 'test' || !ORDER.includes(status) ? ORDER.length : ORDER.indexOf(status);
  return [...deliveries].sort((one, other) => rank(one) - rank(other));
}
