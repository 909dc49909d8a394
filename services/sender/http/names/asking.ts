import type { promises as dns } from 'node:dns';
import { codeOf } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';

/** A question to the name servers. */
export interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'NS';
}

/**
 * The result of a question. `isAnswer`: a server has answered it, with records or with the code that there are none;
 * otherwise no server has, and the code is that of the last failure.
 */
export interface Reply {
  readonly isAnswer: boolean;
  readonly records: readonly string[];
  readonly code: string | null;
}

/** A name server that can be asked once. `of`: the number of name servers there are. */
export interface OpenedServer {
  readonly resolver: dns.Resolver;
  readonly of: number;
  /** It has answered: it is asked first from now on. */
  answered(): void;
}

export interface AskingRules {
  readonly clock: Clock;
  /** Opens the n-th server to be asked. Throws when there is no descriptor or memory for it. */
  readonly open: (turn: number) => OpenedServer;
  /** Questions that are not answered by then have no answer, milliseconds. */
  readonly limitMs: number;
  /** How often each server is asked that fails. */
  readonly rounds: number;
}

/** The resolver's codes for a name that does not exist, or has no such record. */
export const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** In place of the code of an error that has none. */
export const UNKNOWN = 'unknown error';
/** A server that is silent for this long is not waited for alone: the next one is asked as well, milliseconds. */
const ASK_AGAIN_MS = 500;
/** A silent server is asked this often, and one that is alone once more: a datagram may be lost. */
const SILENT_ROUNDS = 2;
const SILENT_TURNS_MIN = 3;
/** After the last server of a round has failed: it may be about to start again. Milliseconds. */
const NEXT_ROUND_MS = 250;

/**
 * Puts questions to the name servers, one server after the other, until each is answered. A server that fails has the
 * next one asked at once, a silent one after a while; its late answer still counts until the limit.
 */
export class Asking {
  readonly #rules: AskingRules;
  readonly #onReply: (question: Question, reply: Reply) => void;
  readonly #unanswered: Set<Question>;
  readonly #opened: OpenedServer[] = [];
  readonly #disarmEnd: () => void;
  #disarm = () => {};
  #disarmEarlyEnd = () => {};
  /** Questions that servers were asked and have not replied to. */
  #waiting = 0;
  #isEnding = false;
  #code = 'ETIMEOUT';

  /** `onReply` is called once for each question, never before the constructor has returned. */
  constructor(
    rules: AskingRules,
    questions: readonly Question[],
    onReply: (question: Question, reply: Reply) => void,
  ) {
    this.#rules = rules;
    this.#onReply = onReply;
    this.#unanswered = new Set(questions);
    const { clock, limitMs } = rules;
    this.#disarmEnd = clock.at(clock.now() + limitMs, () => this.#end('ETIMEOUT'));
    this.#ask();
  }

  /** No server is asked any more, and what is not answered within `ms` has no answer. */
  endWithin(ms: number): void {
    this.#isEnding = true;
    this.#disarm();
    const { clock } = this.#rules;
    this.#disarmEarlyEnd = clock.at(clock.now() + ms, () => this.#end('ETIMEOUT'));
  }

  #ask(): void {
    this.#disarm();
    const { clock, open } = this.#rules;
    const turn = this.#opened.length;
    let opened: OpenedServer;
    try {
      opened = open(turn);
    } catch (error) {
      const code = codeOf(error, UNKNOWN);
      if (this.#waiting === 0) clock.at(clock.now(), () => this.#end(code));
      return;
    }
    this.#opened.push(opened);
    for (const question of this.#unanswered) {
      this.#waiting += 1;
      opened.resolver.resolve(question.name, question.type).then(
        (records) => this.#replied(question, opened, records as string[], null),
        (error: unknown) => this.#replied(question, opened, [], codeOf(error, UNKNOWN)),
      );
    }
    if (turn + 1 < Math.max(SILENT_TURNS_MIN, SILENT_ROUNDS * opened.of)) this.#askIn(ASK_AGAIN_MS);
  }

  #askIn(ms: number): void {
    this.#disarm();
    const { clock } = this.#rules;
    this.#disarm = clock.at(clock.now() + ms, () => this.#ask());
  }

  #replied(question: Question, server: OpenedServer, records: readonly string[], code: string | null): void {
    this.#waiting -= 1;
    if (!this.#unanswered.has(question)) return;
    if (code === null || NO_SUCH_NAME.has(code)) {
      server.answered();
      this.#reply(question, { isAnswer: true, records, code });
      return;
    }
    this.#code = code;
    if (this.#waiting > 0) return;
    if (this.#isEnding || this.#opened.length >= this.#rules.rounds * server.of) this.#end(code);
    else if (this.#opened.length % server.of === 0) this.#askIn(NEXT_ROUND_MS);
    else this.#ask();
  }

  /** Whatever is unanswered has no answer. */
  #end(code: string): void {
    // A server's refusal says more than the silence of the others.
    const told = code === 'ETIMEOUT' ? this.#code : code;
    for (const question of [...this.#unanswered])
      this.#reply(question, { isAnswer: false, records: [], code: told });
  }

  #reply(question: Question, reply: Reply): void {
    this.#unanswered.delete(question);
    if (this.#unanswered.size === 0) {
      this.#disarm();
      this.#disarmEnd();
      this.#disarmEarlyEnd();
      // Closes their sockets.
      for (const { resolver } of this.#opened) resolver.cancel();
    }
    this.#onReply(question, reply);
  }
}
