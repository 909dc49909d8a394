import type { MissedBecause } from '../../services/domain/replay.ts';
import type { Delivery, EventListed, MetricSeries } from '../api/shapes.ts';
import type { Window } from './missed-search.ts';

const MINUTE_MS = 60_000;

/** `owed`: an attempt failed and others follow, so it is not missed yet. */
export type MarkReason = Exclude<MissedBecause, 'asked'> | 'owed';

/** An event that an endpoint has not received when it should have. */
export interface Mark {
  readonly endpoint: string;
  readonly at: number;
  readonly reason: MarkReason;
}

const SKIPPED: ReadonlySet<string> = new Set(['endpoint_disabled', 'endpoint_auto_disabled']);
const REASONS: Readonly<Record<string, MarkReason>> = {
  ...{ exhausted: 'exhausted', refused: 'refused', cancelled: 'cancelled', failed: 'owed' },
};

/**
 * Returns a mark for each event and endpoint, oldest first. A replay makes the own delivery of an event that was not sent,
 * with all attempts; any other delivery that was requested has one attempt, and its event has a mark already.
 */
export function marksOf(deliveries: readonly Delivery[], events: readonly EventListed[]): readonly Mark[] {
  const marks = events.flatMap(({ created_at, endpoints }): readonly Mark[] =>
    endpoints
      .filter(({ verdict }) => SKIPPED.has(verdict))
      .map(({ endpoint_uuid: endpoint }) => ({ endpoint, at: Date.parse(created_at), reason: 'skipped' })),
  );
  for (const { endpoint_uuid: endpoint, status, trigger, attempts_max, ...times } of deliveries) {
    const reason = REASONS[status];
    const isLive = trigger === 'live';
    if (reason === undefined || (!isLive && attempts_max === 1)) continue;
    marks.push({ endpoint, at: Date.parse(isLive ? times.created_at : times.occurred_at), reason });
  }
  return marks.sort((a, b) => a.at - b.at);
}

/** Counts the marks of events that do not arrive by themselves any more. */
export function missedOf(marks: readonly Mark[]): number {
  return marks.filter(({ reason }) => reason !== 'owed').length;
}

/** One column of the time line. */
export interface Column {
  readonly missed: number;
  readonly owed: number;
  readonly delivered: number;
  readonly failed: number;
}

const columnAt = ({ from, stepMs }: Window, at: number) => Math.floor((at - from) / stepMs);

/** Returns the columns of an endpoint. `series`: its attempts. */
export function columnsOf(
  window: Window,
  marks: readonly Mark[],
  series: MetricSeries | undefined,
): readonly Column[] {
  const columns = Array.from({ length: (window.to - window.from) / window.stepMs }, () => ({
    ...{ missed: 0, owed: 0, delivered: 0, failed: 0 },
  }));
  for (const { at, reason } of marks) {
    const column = columns[columnAt(window, at)];
    if (column) column[reason === 'owed' ? 'owed' : 'missed'] += 1;
  }
  for (const { at, attempts, failed } of series?.points ?? []) {
    const column = columns[columnAt(window, Date.parse(at))];
    if (!column) continue;
    column.delivered += attempts - failed;
    column.failed += failed;
  }
  return columns;
}

/** Events missed in a row: none arrived between them. */
export interface Spell {
  /** Whole minutes; the first is one before: a delivery is made after its event was accepted. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly reasons: Readonly<Partial<Record<MarkReason, number>>>;
}

/** Returns the dark spells of an endpoint, oldest first. A column in which something arrived ends one. */
export function spellsOf(
  window: Window,
  marks: readonly Mark[],
  columns: readonly Column[],
): readonly Spell[] {
  const spells: Spell[] = [];
  let last: number | undefined;
  for (const { at, reason } of marks) {
    if (reason === 'owed') continue;
    const column = columnAt(window, at);
    const between = last === undefined ? [] : columns.slice(last + 1, column);
    const before = between.some(({ delivered }) => delivered > 0) ? undefined : spells.pop();
    const to = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS;
    const { from = to - 2 * MINUTE_MS, count = 0, reasons = {} } = before ?? {};
    const more = { ...reasons, [reason]: (reasons[reason] ?? 0) + 1 };
    spells.push({ from, to, count: count + 1, reasons: more });
    last = column;
  }
  return spells;
}
