import { forTerminal, painted, type Style } from './terminal/colours.ts';
import type { Sink } from './terminal/sink.ts';
import { WaitingLine } from './terminal/waiting-line.ts';
import { foldProse, layout, widthOf } from './terminal/width.ts';

export const OUTPUT_FORMATS = ['pretty', 'json', 'ndjson'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface OutputOptions {
  readonly format: OutputFormat;
  readonly quiet: boolean;
  readonly color: boolean;
  /** Returns a text with its commands in the form in which the user types them. */
  readonly asTyped?: (text: string) => string;
}

/**
 * Prints a command's output. Data goes to standard output in the chosen format; remarks and progress go to standard
 * error, and only to a terminal, so that a pipe receives nothing but data.
 */
export class Output {
  readonly format: OutputFormat;
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  /** Returns a text with its commands in the form in which the user types them. */
  readonly asTyped: (text: string) => string;
  readonly #quiet: boolean;
  readonly #color: boolean;
  readonly #waiting: WaitingLine | undefined;
  /** In `json`, items wait here: the output is one array. */
  readonly #items: object[] = [];
  #hasItems = false;

  constructor(stdout: Sink, stderr: Sink, options: OutputOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#quiet = options.quiet;
    this.#color = options.color && stdout.isTTY === true;
    this.format = options.format;
    this.asTyped = options.asTyped ?? ((text) => text);
    const isWatched = stderr.isTTY === true && this.isInteractive && !options.quiet;
    this.#waiting = isWatched ? new WaitingLine(stderr) : undefined;
  }

  /** The width that a line of the output may have. */
  get width(): number {
    return widthOf(this.#stdout);
  }

  /** Formats rows as aligned columns that fit the terminal. */
  table(rows: readonly (readonly string[])[]): string {
    return layout.columns(rows, this.width);
  }

  /** Formats the cells of one row; on a narrow terminal they take several lines. */
  row(cells: readonly string[]): string {
    return layout.foldRow(cells, this.width);
  }

  /** Breaks lines that are too long for the terminal between words. */
  prose(text: string): string {
    return foldProse(text, this.width);
  }

  /**
   * Says on a terminal what is waited for, until the function that it returns is called. `text` is asked for again and
   * again, so it may count down. Nothing is written elsewhere.
   */
  waiting(text: () => string): () => void {
    return this.#waiting?.show(text) ?? (() => {});
  }

  /** Says on a terminal what is waited for while a promise is pending. */
  async during<T>(text: () => string, work: Promise<T>): Promise<T> {
    const end = this.waiting(text);
    return work.finally(end);
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
    if (items.length === 0) this.advise({ says: empty, next: [] });
  }

  /** Prints a remark for a person only: what was done, what to try next. */
  remark(text: string): void {
    if (this.#quiet || this.format !== 'pretty' || this.#stderr.isTTY !== true) return;
    this.#error(text);
  }

  /** Prints what is wrong with a delivery, and the lines that help. For a person, also when piped. */
  advise({ says, next }: { readonly says: string; readonly next: readonly string[] }): void {
    if (this.#quiet || this.format !== 'pretty') return;
    this.#error([says, ...next.map((step) => `  → ${step}`)].join('\n'));
  }

  /** Always printed, even when piped or quiet: something is wrong, or important. */
  warn(text: string): void {
    this.#error(text);
  }

  /** Prints the items collected for `json`. Called once, at the end of every command. */
  finish(): void {
    if (this.format === 'json' && this.#hasItems) this.#line(JSON.stringify(this.#items, null, 2));
  }

  paint(style: Style, text: string): string {
    return this.#color ? painted(style, text) : text;
  }

  #error(text: string): void {
    this.#waiting?.erase();
    const folded = foldProse(this.asTyped(text), widthOf(this.#stderr));
    this.#stderr.write(`${forTerminal(folded, this.#color)}\n`);
  }

  #line(text: string): void {
    this.#waiting?.erase();
    this.#stdout.write(`${forTerminal(text, this.#color)}\n`);
  }
}
