/** The width that fits every terminal. */
export const WIDTH = 80;

const GAP = 2;
/** Less room than this for the last column, and it goes below the others. */
const LAST_WIDTH_MIN = 16;

/** Lays text out in lines of a width: paragraphs, rows, tables. A word that is longer stays whole, to be copied. */
export class TextLayout {
  readonly #lengthOf: (text: string) => number;

  /** `lengthOf`: the number of characters that a terminal shows of a text. */
  constructor(lengthOf: (text: string) => number) {
    this.#lengthOf = lengthOf;
  }

  /** Breaks each line that is too long between words; what follows is indented as the line is, and by `indent` more. */
  fold(text: string, width: number, indent = 2, ending = ''): string {
    return text
      .split('\n')
      .map((line) => this.#foldLine(line, width, indent, ending))
      .join('\n');
  }

  #foldLine(line: string, width: number, indent: number, ending: string): string {
    if (this.#lengthOf(line) <= width) return line;
    const margin = ' '.repeat(line.search(/\S|$/));
    const lines: string[] = [];
    let current = margin;
    for (const [gap, word] of wordsOf(line.slice(margin.length))) {
      const isFirst = current.trim() === '';
      const next = isFirst ? current + word : current + gap + word;
      if (isFirst || this.#lengthOf(next) <= width - ending.length) current = next;
      else {
        lines.push(current + ending);
        current = margin + ' '.repeat(indent) + word;
      }
    }
    return [...lines, current].join('\n');
  }

  /** Puts the cells of a row on one line or, where they do not fit, on several; those after the first are indented. */
  foldRow(cells: readonly string[], width: number, indent = 4): string {
    const lines: string[] = [];
    for (const cell of cells) {
      const last = lines.at(-1);
      const joined = `${last}  ${cell}`;
      if (last === undefined) lines.push(cell);
      else if (this.#lengthOf(joined) <= width) lines[lines.length - 1] = joined;
      else lines.push(`${' '.repeat(indent)}${cell}`);
    }
    return lines.map((line) => this.fold(line.trimEnd(), width)).join('\n');
  }

  /**
   * Formats rows as aligned columns. The last column is not padded; where it does not fit into the width, it is broken
   * between words, or goes on the next line.
   */
  columns(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string {
    const widths: number[] = [];
    for (const row of rows) {
      for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, this.#lengthOf(cell));
    }
    const padded = (cell: string, i: number) =>
      cell + ' '.repeat((widths[i] ?? 0) - this.#lengthOf(cell) + GAP);
    return rows
      .map((row) => {
        const last = row.at(-1) ?? '';
        return this.#rowOf(row.slice(0, -1).map(padded).join(''), last, width);
      })
      .join('\n');
  }

  #rowOf(before: string, last: string, width: number): string {
    const line = (before + last).trimEnd();
    if (this.#lengthOf(line) <= width) return line;
    const room = width - this.#lengthOf(before);
    const longest = Math.max(...last.split(' ').map(this.#lengthOf));
    if (room < Math.max(LAST_WIDTH_MIN, longest))
      return `${before.trimEnd()}\n${this.fold(`    ${last}`, width, 0)}`;
    const hanging = this.fold(last, room, 0).replaceAll('\n', `\n${' '.repeat(this.#lengthOf(before))}`);
    return before + hanging;
  }
}

/** Splits a line into words, each with the spaces before it. */
function wordsOf(line: string): readonly (readonly [gap: string, word: string])[] {
  const words: [string, string][] = [];
  let gap = '';
  for (const [index, word] of line.split(' ').entries()) {
    if (index > 0) gap += ' ';
    if (word === '') continue;
    words.push([gap, word]);
    gap = '';
  }
  return words;
}

/** For text without colours. */
export const plain = new TextLayout((text) => text.length);
