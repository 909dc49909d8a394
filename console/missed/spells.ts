import type { MissedBecause } from '../../services/domain/replay.ts';
import type { Delivery, EventListed, MetricSeries } from '../api/shapes.ts';
import type { Window } from './missed-search.ts';

const MINUTE_MS = 60_000;

/** `owed`: an attempt failed and others follow, so it is not missed yet. */
export type MarkReason = Exclude<MissedBecause, 'asked'> | 'owed';

/** An event that an endpoint has not received when it should have. */
export interface Mark {
  readonly endpoint: string;
  readonly event: string;
  readonly at: number;
  readonly reason: MarkReason;
}

const SKIPPED: ReadonlySet<string> = new Set(['endpoint_disabled', 'endpoint_auto_disabled']);
const REASONS: Readonly<Record<string, MarkReason>> = {
  exhausted: 'exhausted',
  refused: 'refused',
  cancelled: 'cancelled',
  failed: 'owed',
};

/** Returns a mark for each event and endpoint, oldest first. What was sent on request has the mark of its event. */
export function marksOf(deliveries: readonly Delivery[], events: readonly EventListed[]): readonly Mark[] {
  const marks = new Map<string, Mark>();
  const take = (mark: Mark) => marks.set(`${mark.event} ${mark.endpoint}`, mark);
  for (const { created_at, event_uuid: event, endpoints } of events) {
    for (const { endpoint_uuid: endpoint, verdict } of endpoints) {
      if (SKIPPED.has(verdict)) take({ endpoint, event, at: Date.parse(created_at), reason: 'skipped' });
    }
  }
  for (const { created_at, event_uuid: event, endpoint_uuid: endpoint, status, trigger } of deliveries) {
    const reason = REASONS[status];
    if (reason !== undefined && trigger === 'live')
      take({ endpoint, event, at: Date.parse(created_at), reason });
  }
  return [...marks.values()].sort((a, b) => a.at - b.at);
}

/** Events missed in a row: none arrived between them. */
export interface Spell {
  /** The whole minutes that have all of them. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly reasons: Readonly<Partial<Record<MarkReason, number>>>;
}

/** One column of the time line. */
export interface Column {
  readonly missed: number;
  readonly owed: number;
  readonly delivered: number;
  readonly failed: number;
}

/** Returns the columns of an endpoint. `series`: its attempts. */
export function columnsOf(
  window: Window,
  marks: readonly Mark[],
  series: MetricSeries | undefined,
): readonly Column[] {
  const columns = Array.from({ length: window.columns }, () => ({
    ...{ missed: 0, owed: 0, delivered: 0, failed: 0 },
  }));
  const columnAt = (at: number) => columns[Math.floor((at - window.from) / window.stepMs)];
  for (const { at, reason } of marks) {
    const column = columnAt(at);
    if (column) column[reason === 'owed' ? 'owed' : 'missed'] += 1;
  }
  for (const { at, attempts, failed } of series?.points ?? []) {
    const column = columnAt(Date.parse(at));
    if (!column) continue;
    column.delivered += attempts - failed;
    column.failed += failed;
  }
  return columns;
}

/** Returns the dark spells of an endpoint, oldest first. A column in which something arrived ends one. */
export function spellsOf(
  window: Window,
  marks: readonly Mark[],
  columns: readonly Column[],
): readonly Spell[] {
  const spells: Spell[] = [];
  const columnOf = (at: number) => Math.floor((at - window.from) / window.stepMs);
  let last: number | undefined;
  for (const { at, reason } of marks) {
    if (reason === 'owed') continue;
    const between = last === undefined ? [] : columns.slice(columnOf(last) + 1, columnOf(at));
    const before = spells.at(-1);
    const to = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS;
    if (before === undefined || between.some(({ delivered }) => delivered > 0))
      spells.push({ from: to - MINUTE_MS, to, count: 1, reasons: { [reason]: 1 } });
    else {
      const reasons = { ...before.reasons, [reason]: (before.reasons[reason] ?? 0) + 1 };
      spells.splice(-1, 1, { ...before, to, count: before.count + 1, reasons });
    }
    last = at;
  }
  return spells;
}
