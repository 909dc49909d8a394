import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { entityKindsOf } from '../../services/domain/catalog/catalog.ts';
import type { EventType } from '../../services/domain/event.ts';
import { messageOf } from '../../services/messages/error-message.ts';
import { CommandFailure } from '../exit.ts';
import type { Output } from '../output.ts';
import { type EventName, parseEventName } from '../scenario/event-name.ts';
import type { CommandOptions, Session } from '../session.ts';
import type { Footer } from '../terminal/footer.ts';
import type { Keyboard } from '../terminal/keyboard.ts';
import { ListenConsole } from './console.ts';
import { EntryAdvice } from './entry-advice.ts';
import { entryJson, entryLine } from './entry-lines.ts';
import { writeEnvFile } from './env-file.ts';
import type { Entry } from './intake.ts';
import { Listener, type ListenerOptions, type ReadyListener } from './listener.ts';
import { lostSince, lostText, readyJson, sayReady, troubleAdvice } from './ready-lines.ts';

export interface ListenChoices extends ListenerOptions {
  readonly options: CommandOptions;
  readonly envFile: string | undefined;
  readonly catchUp: boolean;
  /** The test webhook to send at the start. */
  readonly test: EventName | undefined;
  /** The foot of the terminal and its keys, where there is one. */
  readonly terminal: { readonly footer: Footer; readonly keyboard: Keyboard } | undefined;
}

/** Forwards webhooks to the developer's app until Ctrl-C. */
export async function listen(session: Session, choices: ListenChoices): Promise<void> {
  await new Listening(session, choices).run();
}

/** One run of the command: the listener, and what a person or a program sees of it. */
class Listening {
  readonly #session: Session;
  readonly #output: Output;
  readonly #choices: ListenChoices;
  readonly #listener: Listener;
  readonly #advice: EntryAdvice;
  #console: ListenConsole | undefined;
  #ready: ReadyListener | undefined;

  constructor(session: Session, choices: ListenChoices) {
    this.#session = session;
    this.#output = session.output;
    this.#choices = choices;
    this.#advice = new EntryAdvice(session.output, choices.target);
    this.#listener = new Listener(session, choices.options, choices, {
      onEntry: (entry) => this.#show(entry),
      onLost: (reason) => this.#lost(reason),
      onReadyAgain: (ready) => this.#readyAgain(ready),
      onEndpoint: (trouble) => {
        const advice = troubleAdvice(trouble, choices.target);
        this.#say({ ...trouble, kind: 'endpoint', change: trouble.kind }, () => this.#output.advise(advice));
      },
    });
  }

  async run(): Promise<void> {
    const { signal } = this.#session;
    let following: Promise<void> = Promise.resolve();
    try {
      const started = this.#listener.start();
      this.#ready = await this.#output.during(() => 'making the endpoint ready', started);
      if (!signal.aborted) {
        const first = new Promise<void>((resolve) => {
          following = this.#listener.follow(resolve);
        });
        await Promise.race([first, aborted(signal)]);
      }
      if (!signal.aborted) await this.#begin(this.#ready);
      await aborted(signal);
    } finally {
      this.#console?.close();
      await this.#close();
      await following;
    }
  }

  async #begin(ready: ReadyListener): Promise<void> {
    const { target, envFile, events, terminal } = this.#choices;
    if (envFile !== undefined) writeEnvFile(envFile, ready.secret);
    const hasApp = await accepts(target.url);
    const hasKeys = terminal !== undefined;
    sayReady(this.#output, ready, target, { envFile, events, hasApp, hasKeys });
    const { catchUp: isWanted, test } = this.#choices;
    const missed = ready.missed ?? 0;
    if (terminal !== undefined) this.#console = this.#openConsole(terminal, isWanted ? 0 : missed);
    if (isWanted && missed > 0) await this.#orSay(this.#catchUp());
    if (test !== undefined) await this.#orSay(this.#test(test));
  }

  #openConsole(terminal: NonNullable<ListenChoices['terminal']>, missed: number): ListenConsole {
    const { target, events } = this.#choices;
    const actions = {
      resend: async (delivery: string) => {
        await this.#listener.api.resend(this.#ready?.uuid ?? '', delivery);
      },
      catchUp: () => this.#catchUp(),
      test: () => this.#test(usualTest(events)),
      quit: terminal.keyboard.interrupt,
    };
    const secret = () => this.#ready?.secret ?? '';
    const now = () => this.#listener.api.clock.now();
    return new ListenConsole({ ...terminal, output: this.#output, target, secret, now, actions }, missed);
  }

  async #catchUp(): Promise<void> {
    const { uuid = '', since = '' } = this.#ready ?? {};
    const { count } = await this.#listener.api.startReplay(uuid, { since, only: 'missing' });
    const text = `bringing back ${count === 1 ? '1 event' : `${count} events`} that you missed`;
    this.#output.item({ kind: 'catch_up', count, since }, this.#output.paint('bold', text));
  }

  async #test({ type, subType }: EventName): Promise<void> {
    const who = entityKindsOf(type).includes('USER')
      ? { user_uuid: randomUUID() }
      : { corporate_uuid: randomUUID() };
    await this.#listener.api.testEndpoint(this.#ready?.uuid ?? '', { type, subType, ...who }, 0);
  }

  #show(entry: Entry): void {
    const { target } = this.#choices;
    this.#output.item(entryJson(entry, target), () => entryLine(entry, target, this.#output));
    this.#advice.after(entry);
    this.#console?.add(entry);
  }

  #lost(reason: string): void {
    const text = this.#output.paint('yellow', lostText(reason));
    this.#output.item({ kind: 'reconnecting', reason }, text);
    if (this.#console !== undefined) this.#console.status = lostSince(Date.now());
  }

  #readyAgain(ready: ReadyListener): void {
    const { target, events, envFile } = this.#choices;
    const isSame = ready.secret === this.#ready?.secret;
    this.#ready = ready;
    if (envFile !== undefined && !isSame) writeEnvFile(envFile, ready.secret);
    const secret = isSame ? '' : `; the secret is another one now: ${ready.secret}`;
    this.#output.item(readyJson(ready, target, events), this.#output.paint('green', `ready again${secret}`));
    if (this.#console !== undefined) this.#console.status = undefined;
  }

  /** Something that is an item for a program, and advice for a person. */
  #say(datum: object, advise: () => void): void {
    if (this.#output.format === 'pretty') advise();
    else this.#output.item(datum, '');
  }

  /** A refusal of the API does not end the command. */
  async #orSay(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => {
      if (this.#session.signal.aborted) return;
      if (!(error instanceof CommandFailure)) throw error;
      const { message, next } = error;
      this.#say({ kind: 'error', message, next }, () => this.#output.advise({ says: message, next }));
    });
  }

  async #close(): Promise<void> {
    await this.#listener.close().catch((error: unknown) => {
      const uuid = this.#ready?.uuid ?? '';
      this.#output.warn(
        `its endpoint could not be disabled (${messageOf(error)}); do it with: hookrail sim endpoints disable ${uuid}`,
      );
    });
    if (this.#ready !== undefined) {
      this.#output.remark('stopped: the endpoint is disabled, and its secret stays the same');
    }
  }
}

/** Returns an event that the endpoint's filter takes. */
export function usualTest(events: readonly EventType[] | null): EventName {
  return parseEventName(events?.[0] ?? 'fiatToCrypto/PENDING');
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const CONNECT_MS_MAX = 1000;

/** Returns whether something listens where webhooks are forwarded to. */
function accepts({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = connect(Number(port) || (protocol === 'https:' ? 443 : 80), host);
    const done = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.setTimeout(CONNECT_MS_MAX, () => done(false));
    socket.once('connect', () => done(true)).once('error', () => done(false));
  });
}
