import { curlOf } from '../../client/curl.ts';
import { formatCountdown } from '../../client/duration.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { messageOf } from '../../services/messages/error-message.ts';
import { CommandFailure } from '../exit.ts';
import type { Output } from '../output.ts';
import type { Footer } from '../terminal/footer.ts';
import type { Keyboard } from '../terminal/keyboard.ts';
import { entryDetails, statusOf, timeOf } from './entry-lines.ts';
import type { ForwardTarget } from './forward-target.ts';
import type { Entry } from './intake.ts';
import { signedHeaders } from './signed-headers.ts';

/** The work behind the keys. */
export interface ConsoleActions {
  /** Sends a delivery again. */
  resend(delivery: string): Promise<void>;
  /** Brings back what was missed. */
  catchUp(): Promise<void>;
  /** Sends a test webhook to the app. */
  test(): Promise<void>;
  /** Ends the command. */
  quit(): void;
}

export interface ConsoleOptions {
  readonly output: Output;
  readonly footer: Footer;
  readonly keyboard: Keyboard;
  readonly target: ForwardTarget;
  readonly secret: () => string;
  /** The service's time, milliseconds since the epoch. */
  readonly now: () => number;
  readonly actions: ConsoleActions;
}

/** The newest entries can be chosen. */
const ENTRIES_MAX = 500;
const TICK_MS = 1000;

const HELP = [
  ['↑ ↓', 'choose a webhook; Esc lets go, so that the newest is meant'],
  ['d', 'details: the request, its headers, the signature, the answer'],
  ['r', 'resend it; at first, bring back what you missed'],
  ['v', 'verify it: secret, signature, time'],
  ['c', 'copy it as a curl command to your app, signed anew'],
  ['t', 'send a test webhook'],
  ['q', 'quit; the endpoint is disabled, its secret stays the same'],
] as const;

/** The keys of a listener on a terminal, and the two lines at its foot. */
export class ListenConsole {
  readonly #options: ConsoleOptions;
  readonly #entries: Entry[] = [];
  readonly #release: () => void;
  readonly #timer: NodeJS.Timeout;
  /** The chosen entry; undefined: the newest, whichever that is. */
  #chosen: Entry | undefined;
  #missed = 0;
  #status: (() => string) | undefined;

  constructor(options: ConsoleOptions, missed: number) {
    this.#options = options;
    this.#missed = missed;
    this.#release = options.keyboard.listen((name) => this.#press(name));
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    options.footer.show((width) => this.#lines(width));
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#entries.length > ENTRIES_MAX) this.#entries.shift();
    this.#options.footer.redraw();
  }

  /** Says at the foot what is waited for, instead of the entry; undefined: nothing. */
  set status(text: (() => string) | undefined) {
    this.#status = text;
    this.#options.footer.redraw();
  }

  /** Gives the terminal back. */
  close(): void {
    clearInterval(this.#timer);
    this.#release();
    this.#options.footer.hide();
  }

  #press(name: string): void {
    if (name === 'r' && this.#chosen === undefined && this.#missed > 0) {
      this.#work(this.#catchUp());
      return;
    }
    const command = this.#commandOf(name);
    const act = this.#actOn(name);
    if (command !== undefined) command();
    else if (act !== undefined) {
      const entry = this.#meant();
      if (entry === undefined) this.#options.output.warn('nothing has arrived yet; t sends a test');
      else act(entry);
    }
  }

  /** Returns what a key does that needs no entry. */
  #commandOf(name: string): (() => void) | undefined {
    const { actions } = this.#options;
    switch (name) {
      case 'up':
      case 'k':
        return () => this.#choose(-1);
      case 'down':
      case 'j':
        return () => this.#choose(1);
      case 'escape':
        return () => this.#letGo();
      case 'q':
        return () => actions.quit();
      case 't':
        return () => this.#work(actions.test());
      case '?':
      case 'h':
        return () => this.#help();
      default:
        return undefined;
    }
  }

  /** Returns what a key does with an entry. */
  #actOn(name: string): ((entry: Entry) => void) | undefined {
    const { output, target } = this.#options;
    switch (name) {
      case 'd':
      case 'return':
        return (entry) => output.result({}, `\n${entryDetails(entry, target, output)}\n`);
      case 'r':
        return (entry) => this.#work(this.#resend(entry));
      case 'v':
        return (entry) => this.#verify(entry);
      case 'c':
        return (entry) => this.#copy(entry);
      default:
        return undefined;
    }
  }

  #help(): void {
    const { output } = this.#options;
    output.result({}, `\n${output.table(HELP.map(([key, does]) => [`  ${key}`, does]))}\n`);
  }

  #meant(): Entry | undefined {
    return this.#chosen ?? this.#entries.at(-1);
  }

  #choose(step: 1 | -1): void {
    const last = this.#entries.length - 1;
    const at = this.#chosen === undefined ? last + 1 : this.#entries.indexOf(this.#chosen);
    // Below the newest there is none: it follows what arrives again.
    this.#chosen = this.#entries[Math.max(0, at + step)];
    this.#options.footer.redraw();
  }

  #letGo(): void {
    this.#chosen = undefined;
    this.#options.footer.redraw();
  }

  async #catchUp(): Promise<void> {
    this.#missed = 0;
    await this.#options.actions.catchUp();
  }

  async #resend({ headers }: Entry): Promise<void> {
    const delivery = headers['webhook-delivery-id'];
    if (delivery !== undefined && headers['webhook-test'] === undefined) {
      await this.#options.actions.resend(delivery);
      return;
    }
    const what =
      delivery === undefined ? 'it did not come from hookrail' : 'a test cannot be resent; t sends one';
    this.#options.output.warn(`it is not resent: ${what}`);
  }

  #verify({ verdict, number }: Entry): void {
    const { output } = this.#options;
    const lines = (verdict?.checks ?? []).map(
      ({ ok, name, detail }) =>
        `  ${output.paint(ok ? 'green' : 'red', ok ? '✓' : '✗')} ${name}: ${visible(detail)}`,
    );
    output.result({}, output.prose(`\n  request ${number}\n${lines.join('\n')}\n`));
  }

  /** The time is in the signature, and old ones are refused: the copy is signed as of now. */
  #copy({ headers, body }: Entry): void {
    const { output, target, secret, footer } = this.#options;
    const { host: _, connection: __, 'content-length': ___, ...others } = headers;
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const id = headers['webhook-id'] ?? 'none';
    const signed = signedHeaders({ secret: secret(), id, timestampSeconds, body });
    const curl = curlOf(target.url.href, { ...others, ...signed }, body.toString('utf8'));
    // OSC 52: terminals that allow it put the text into the clipboard.
    footer.writeInvisible(`\u001b]52;c;${Buffer.from(curl).toString('base64')}\u0007`);
    output.result({}, `\n${curl}\n`);
    output.remark('signed for the next 5 minutes; in the clipboard too, if your terminal allows it');
  }

  #work(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const next = error instanceof CommandFailure ? error.next : [];
      this.#options.output.advise({ says: messageOf(error), next });
    });
  }

  #tick(): void {
    if (this.#status !== undefined || this.#soonestRetry() !== undefined) this.#options.footer.redraw();
  }

  /** Returns the next attempt that is due; those that a later attempt has settled are over. */
  #soonestRetry(): { readonly entry: Entry; readonly dueAt: number } | undefined {
    const byDelivery = new Map(
      this.#entries.map((entry) => [entry.headers['webhook-delivery-id'] ?? '', entry]),
    );
    const now = this.#options.now();
    return [...byDelivery.values()]
      .map((entry) => ({ entry, dueAt: Date.parse(entry.attempt?.next_attempt_at ?? '') }))
      .filter(({ dueAt }) => dueAt > now)
      .sort((a, b) => a.dueAt - b.dueAt)[0];
  }

  #lines(width: number): readonly string[] {
    const { output } = this.#options;
    const keys = `↑↓ choose  d details  r ${this.#missed > 0 && !this.#chosen ? `get ${this.#missed} missed` : 'resend'}  v verify  c curl  t test  ? help  q quit`;
    return [this.#stateLine(), keys].map((line, i) =>
      output.paint(i === 0 && this.#chosen ? 'bold' : 'dim', line.slice(0, width)),
    );
  }

  #stateLine(): string {
    if (this.#status !== undefined) return this.#status();
    const entry = this.#meant();
    if (entry === undefined) return 'waiting for the first webhook; t sends a test';
    const retry = this.#soonestRetry();
    const waits =
      retry === undefined
        ? ''
        : `  retry of ${retry.entry.number} in ${formatCountdown(retry.dueAt - this.#options.now())}`;
    const mark = this.#chosen === undefined ? '·' : '▸';
    return `${mark} ${entry.number}  ${timeOf(entry)}  ${entry.summary.title}  ${statusOf(entry.result) ?? '-'}${waits}`;
  }
}
