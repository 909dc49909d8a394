import { forTerminal } from './colours.ts';
import type { Sink } from './sink.ts';
import { widthOf } from './width.ts';

const ERASE_LINE = '\r\u001b[2K';
const UP = '\u001b[1A';

/**
 * The lines at the foot of a terminal, below everything that is printed: they are erased before other text and drawn again
 * after it, so that the text above stays in the terminal's history. `stdout` and `stderr` are the sinks to print to.
 */
export class Footer {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly #terminal: Sink;
  #lines: (width: number) => readonly string[] = () => [];
  /** The number of lines on the screen. */
  #shown = 0;
  #isHidden = true;

  constructor(stdout: Sink, stderr: Sink) {
    this.#terminal = stdout;
    this.stdout = this.#above(stdout);
    this.stderr = this.#above(stderr);
  }

  /** Shows lines from now on; they are asked for each time they are drawn, and none may be wider than the width. */
  show(lines: (width: number) => readonly string[]): void {
    this.#lines = lines;
    this.#isHidden = false;
    this.redraw();
  }

  redraw(): void {
    this.#erase();
    this.#draw();
  }

  hide(): void {
    this.#erase();
    this.#isHidden = true;
  }

  /** Writes something that takes no place on the screen. */
  writeInvisible(text: string): void {
    this.#terminal.write(text);
  }

  #above(sink: Sink): Sink {
    const write = (text: string) => {
      this.#erase();
      sink.write(text);
      // A line that is not complete would be continued by the footer.
      if (text.endsWith('\n')) this.#draw();
    };
    return {
      write,
      isTTY: sink.isTTY,
      get columns() {
        return sink.columns;
      },
    };
  }

  #draw(): void {
    if (this.#isHidden) return;
    // A line that fills the width would wrap on some terminals.
    const lines = this.#lines(widthOf(this.#terminal) - 1);
    this.#terminal.write(forTerminal(lines.join('\n'), true));
    this.#shown = lines.length;
  }

  #erase(): void {
    if (this.#shown === 0) return;
    this.#terminal.write(ERASE_LINE + `${UP}${ERASE_LINE}`.repeat(this.#shown - 1));
    this.#shown = 0;
  }
}
