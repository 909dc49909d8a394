import type { LiveRow } from './live-row.ts';

/** The rows of one subject, such as a transaction. */
export interface LiveGroup {
  readonly subject: string;
  readonly type: string;
  /** The subTypes of its events, oldest first, each once. */
  readonly steps: readonly string[];
  readonly rows: number;
}

type LiveItem =
  | { readonly kind: 'row'; readonly key: string; readonly row: LiveRow }
  | { readonly kind: 'group'; readonly key: string; readonly group: LiveGroup };

/** Returns what the list shows: the rows, newest first; on request those of one subject below each other. */
export function itemsOf(rows: readonly LiveRow[], isGrouped: boolean): readonly LiveItem[] {
  if (!isGrouped) return rows.map(itemOf);
  const groups = new Map<string, LiveRow[]>();
  for (const row of rows) {
    const group = groups.get(row.subject);
    if (group === undefined) groups.set(row.subject, [row]);
    else group.push(row);
  }
  return [...groups].flatMap(([subject, ofSubject]) => [
    { kind: 'group' as const, key: `group ${subject}`, group: groupOf(subject, ofSubject) },
    ...ofSubject.map(itemOf),
  ]);
}

function itemOf(row: LiveRow): LiveItem {
  return { kind: 'row', key: row.key, row };
}

function groupOf(subject: string, rows: readonly LiveRow[]): LiveGroup {
  const events = new Map([...rows].reverse().map(({ event, subType }) => [event, subType]));
  const steps = [...events.values()].filter((step, index, all) => step !== all[index - 1]);
  return { subject, type: rows[0]?.type ?? '', steps, rows: rows.length };
}
