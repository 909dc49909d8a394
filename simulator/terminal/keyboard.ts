import { emitKeypressEvents, type Key } from 'node:readline';

/** The keys of a terminal, one by one, without Enter. */
export interface Keyboard {
  /**
   * Reports each key by its name ("up", "r", "?") until the function that it returns is called; then the terminal is as
   * it was. Ctrl-C and Ctrl-Z do what they always do.
   */
  listen(onKey: (name: string) => void): () => void;
  /** Does what Ctrl-C does. */
  readonly interrupt: () => void;
}

/** The parts of process.stdin that a keyboard needs. */
type KeySource = NodeJS.ReadStream;

/** Makes a keyboard of a terminal's input. `interrupt`: what Ctrl-C does. `hangUp`: called when the terminal is closed. */
export function openKeyboard(input: KeySource, interrupt: () => void, hangUp: () => void): Keyboard {
  return { interrupt, listen: (onKey) => listen(input, { interrupt, hangUp, onKey }) };
}

interface Listener {
  readonly interrupt: () => void;
  readonly hangUp: () => void;
  readonly onKey: (name: string) => void;
}

function listen(input: KeySource, { interrupt, hangUp, onKey }: Listener): () => void {
  const setRaw = (isRaw: boolean) => {
    // The terminal may be gone.
    if (input.isTTY && !input.destroyed) input.setRawMode(isRaw);
  };
  const restore = () => setRaw(false);
  const take = () => setRaw(true);
  const onKeypress = (text: string | undefined, key: Key) => {
    // In raw mode the terminal makes no signal of these.
    if (key.ctrl && (key.name === 'c' || key.name === 'd')) interrupt();
    else if (key.ctrl && key.name === 'z') suspend(restore);
    else if (!key.ctrl && !key.meta) onKey(nameOf(text, key));
  };
  emitKeypressEvents(input);
  input.on('keypress', onKeypress);
  // A closed window: nobody presses a key any more.
  input.once('end', hangUp);
  input.once('error', hangUp);
  // Whatever ends the process, the shell gets its terminal back.
  process.once('exit', restore);
  process.on('SIGCONT', take);
  take();
  input.resume();
  return () => {
    restore();
    input.off('keypress', onKeypress);
    input.off('end', hangUp);
    process.off('exit', restore);
    process.off('SIGCONT', take);
    input.pause();
  };
}

function suspend(restore: () => void): void {
  restore();
  process.kill(process.pid, 'SIGTSTP');
}

function nameOf(text: string | undefined, key: Key): string {
  // Letters by what they mean with Shift: "?" and not "/".
  return text !== undefined && /^[!-~]$/.test(text) ? text : (key.name ?? '');
}
