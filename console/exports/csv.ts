import { visible } from '../../services/domain/text/visible-text.ts';

export type Cell = string | number | null;

/** Signs with which a spreadsheet begins a formula, in each width and height that it folds to them. */
const SIGNS =
  '=+\\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20';
/** A sign where a cell begins; spreadsheets that part cells by a semicolon or a tab begin one there too. */
const FORMULA = new RegExp(`(^|[;\\t\\r\\n])([\\s\\p{Z}\\p{Cf}"]*)(?=[${SIGNS}])`, 'gu');

/**
 * Returns a text of which a spreadsheet makes no formula: an apostrophe stands before each sign with which one could begin,
 * and before control characters that it would drop first.
 */
export function defused(text: string): string {
  const marked = text.replace(FORMULA, "$1$2'");
  return /^[\t\r\n]/.test(marked) ? `'${marked}` : marked;
}

function cellOf(cell: Cell): string {
  if (cell === null) return '';
  // Line breaks and characters that hide or reorder text are spelt out: a row stays a line.
  const text = typeof cell === 'number' ? String(cell) : defused(visible(cell));
  return /[",;\s']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const BYTE_ORDER_MARK = '\ufeff';

/** Returns CSV as RFC 4180 has it, with a byte order mark, by which spreadsheets know UTF-8. */
export function csvOf(rows: readonly (readonly Cell[])[]): string {
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}
