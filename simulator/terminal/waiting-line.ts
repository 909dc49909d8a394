import { visible } from '../../services/domain/text/visible-text.ts';
import type { Sink } from './sink.ts';
import { widthOf } from './width.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const ERASE = '\r\u001b[2K';

/**
 * The line at the foot of a terminal that says what is waited for, beside a spinner. It moves only while something is
 * waited for, and is erased before anything else is printed.
 */
export class WaitingLine {
  readonly #sink: Sink;
  /** The pending waits; the newest is shown. */
  readonly #texts: (() => string)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #isShown = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Shows a text, which is asked for again at each step of the spinner. Returns the function that ends it. */
  show(text: () => string): () => void {
    this.#texts.push(text);
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    return () => {
      const index = this.#texts.indexOf(text);
      if (index !== -1) this.#texts.splice(index, 1);
      this.erase();
      if (this.#texts.length > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Makes room for a line; the next step of the spinner draws it again below. */
  erase(): void {
    if (this.#isShown) this.#sink.write(ERASE);
    this.#isShown = false;
  }

  #draw(): void {
    const text = this.#texts.at(-1)?.();
    this.erase();
    if (!text) return;
    const frame = FRAMES[this.#frame % FRAMES.length] ?? '';
    this.#frame += 1;
    // A line that wraps could not be erased.
    this.#sink.write(visible(`${frame} ${text}`).slice(0, widthOf(this.#sink) - 1));
    this.#isShown = true;
  }
}
