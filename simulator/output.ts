import { stripVTControlCharacters, styleText } from 'node:util';
import { visibleLines } from '../services/domain/text/visible-text.ts';

export const OUTPUT_FORMATS = ['pretty', 'json', 'ndjson'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** A destination of text: process.stdout and process.stderr, or a test's substitute. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

export interface OutputOptions {
  readonly format: OutputFormat;
  readonly quiet: boolean;
  readonly color: boolean;
}

type Style = Parameters<typeof styleText>[0];

/**
 * Prints a command's output. Data goes to standard output in the chosen format; remarks and progress go to standard
 * error, and only to a terminal, so that a pipe receives nothing but data.
 */
export class Output {
  readonly format: OutputFormat;
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  readonly #quiet: boolean;
  readonly #color: boolean;
  /** In `json`, items wait here: the output is one array. */
  readonly #items: object[] = [];
  #hasItems = false;

  constructor(stdout: Sink, stderr: Sink, options: OutputOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#quiet = options.quiet;
    this.#color = options.color && stdout.isTTY === true;
    this.format = options.format;
  }

  /** Whether a person uses it. */
  get isInteractive(): boolean {
    return this.#stdout.isTTY === true && this.format === 'pretty';
  }

  /** Prints the one result of a command. */
  result(value: object, pretty: string | (() => string)): void {
    if (this.format === 'pretty') this.#line(typeof pretty === 'string' ? pretty : pretty());
    else this.#line(JSON.stringify(value, null, this.format === 'json' ? 2 : undefined));
  }

  /** Prints one of many: a line each, or an element of the array that finish() prints. */
  item(value: object, pretty: string | (() => string)): void {
    this.#hasItems = true;
    if (this.format === 'json') this.#items.push(value);
    else this.result(value, pretty);
  }

  /** Prints lists that may be empty: `json` prints `[]`, and a person reads what the emptiness means. */
  list<Item extends object>(items: readonly Item[], pretty: (item: Item) => string, empty: string): void {
    this.#hasItems = true;
    for (const item of items) this.item(item, () => pretty(item));
    if (items.length === 0) this.remark(empty);
  }

  /** Prints a remark for a person only: what was done, what to try next. */
  remark(text: string): void {
    if (this.#quiet || this.format !== 'pretty' || this.#stderr.isTTY !== true) return;
    this.#stderr.write(`${visibleLines(this.#color ? text : stripVTControlCharacters(text))}\n`);
  }

  /** Always printed, even when piped or quiet: something is wrong, or important. */
  warn(text: string): void {
    this.#stderr.write(`${visibleLines(this.#color ? text : stripVTControlCharacters(text))}\n`);
  }

  /** Prints the items collected for `json`. Called once, at the end of every command. */
  finish(): void {
    if (this.format === 'json' && this.#hasItems) this.#line(JSON.stringify(this.#items, null, 2));
  }

  paint(style: Style, text: string): string {
    return this.#color ? styleText(style, text, { validateStream: false }) : text;
  }

  #line(text: string): void {
    this.#stdout.write(`${visibleLines(text)}\n`);
  }
}

/** Formats rows as aligned columns. The last column is not padded. */
export function columns(rows: readonly (readonly string[])[], gap = 2): string {
  const widths: number[] = [];
  const widthOf = (cell: string) => stripVTControlCharacters(cell).length;
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  }
  const pad = (cell: string, i: number, row: readonly string[]) =>
    i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - widthOf(cell) + gap);
  return rows.map((row) => row.map(pad).join('')).join('\n');
}
