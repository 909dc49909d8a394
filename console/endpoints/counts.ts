import { typesOf } from '../../services/domain/catalog/catalog.ts';
import type { ApiVersion } from '../../services/domain/endpoint.ts';

/** Returns a share as a person writes it. It is 100 % only of all, and 0 % only of none. */
export function percentOf(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  if (part === whole || part === 0) return `${percent} %`;
  return `${Math.min(99.9, Math.max(0.1, percent)).toFixed(1)} %`;
}

const ORDER = ['exhausted', 'refused', 'failed', 'pending', 'cancelled', 'delivered'];

/** Returns deliveries by how bad their status is, tests last; those of one status keep their order. */
export function failedFirst<One extends { status: string; trigger: string }>(all: readonly One[]): One[] {
  const rank = ({ status, trigger }: One) =>
    trigger === 'test' || !ORDER.includes(status) ? ORDER.length : ORDER.indexOf(status);
  return [...all].sort((one, other) => rank(one) - rank(other));
}

export interface LastWeek {
  /** Events by type. */
  readonly byType: ReadonlyMap<string, number>;
  readonly total: number;
  /** There were more: these are the newest. */
  readonly hasMore: boolean;
}

/** Says how many events of the last week a filter lets through. */
export function matchedBy(filter: readonly string[] | null, version: ApiVersion, week: LastWeek): string {
  const { byType, total, hasMore } = week;
  if (total === 0) return 'There were no events last week to compare with.';
  const matched = typesOf(version)
    .filter((type) => filter?.includes(type) ?? true)
    .reduce((sum, type) => sum + (byType.get(type) ?? 0), 0);
  return `It lets ${matched} of the ${hasMore ? 'newest ' : ''}${total} events of last week through.`;
}
