import { EVENT_TYPE, SKIP_REASON } from '../log/codes.ts';
import type { TraceLine } from '../log/trace-lines.ts';
import type { EventFilter } from '../store.ts';
import { type EventColumns, linesOf } from './log-records.ts';

type FilteredColumns = Pick<EventColumns<unknown>, 'type' | 'sub_type' | 'trace'>;

/**
 * Returns the condition on an event's row, except for its entity: each engine compares ids in its own form.
 * `endpoint`: the number of the filter's endpoint.
 */
export function eventCondition(
  filter: EventFilter,
  endpoint: number | undefined,
): (row: FilteredColumns) => boolean {
  const type = filter.type === undefined ? undefined : EVENT_TYPE.of[filter.type];
  const { verdict, subType } = filter;
  const code = verdict === undefined || verdict === 'delivered_to' ? 0 : SKIP_REASON.of[verdict];
  const isLine = (line: TraceLine) =>
    (endpoint === undefined || line[0] === endpoint) && (verdict === undefined || line[1] === code);
  const needsTrace = endpoint !== undefined || verdict !== undefined;
  return (row) =>
    (type === undefined || row.type === type) &&
    (subType === undefined || row.sub_type === subType) &&
    (!needsTrace || linesOf(row).some(isLine));
}
