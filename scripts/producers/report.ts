import { CLIENTS } from './clients.ts';
import type { Cell } from './judge.ts';

/** Returns the table of ends: a row for each case or group of combinations, a column for each client. */
export function tableText(cells: readonly Cell[]): string {
  const rows = new Map<string, Map<string, Cell[]>>();
  for (const cell of cells) {
    const key = `${cell.group}\n${cell.row}`;
    const row = rows.get(key) ?? new Map<string, Cell[]>();
    row.set(cell.client, [...(row.get(cell.client) ?? []), cell]);
    rows.set(key, row);
  }
  const lines: string[][] = [['case', ...CLIENTS]];
  let group = '';
  for (const [key, row] of rows) {
    const [ofGroup = '', name = ''] = key.split('\n');
    if (ofGroup !== group) lines.push([ofGroup.toUpperCase()]);
    group = ofGroup;
    lines.push([`  ${name}`, ...CLIENTS.map((client) => endsText(row.get(client) ?? []))]);
  }
  const widths = [0, ...CLIENTS.map((_, i) => i + 1)].map((i) =>
    Math.max(...lines.map((line) => (line[i] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Counts equal ends, as in `24 delivered`, and marks wrong ones. */
function endsText(cells: readonly Cell[]): string {
  const counts = new Map<string, number>();
  for (const { end, isRight } of cells) {
    const text = isRight ? end : `✗ ${end}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return (
    [...counts].map(([text, count]) => (cells.length === 1 ? text : `${count} ${text}`)).join(', ') || '–'
  );
}

/** Returns the cells with a wrong end, one line each; at most `max`. */
export function wrongText(cells: readonly Cell[], max = 60): string {
  const wrong = cells.filter(({ isRight }) => !isRight);
  const lines = wrong
    .slice(0, max)
    .map(
      ({ client, name, end, detail, expected }) =>
        `✗ ${client}: ${name}: ${end}, expected ${expected.join(' or ')}${detail ? ` (${detail.slice(0, 200)})` : ''}`,
    );
  if (wrong.length > max) lines.push(`… and ${wrong.length - max} more`);
  return lines.join('\n');
}
