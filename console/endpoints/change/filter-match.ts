import { typesOf } from '../../../services/domain/catalog/catalog.ts';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';

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
  const among = hasMore ? `the newest ${total} events of last week` : `the ${total} events of last week`;
  if (total === 0) return 'There were no events last week to compare with.';
  const matched = typesOf(version)
    .filter((type) => filter?.includes(type) ?? true)
    .reduce((sum, type) => sum + (byType.get(type) ?? 0), 0);
  return `It lets ${matched} of ${among} through.`;
}
