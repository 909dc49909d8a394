import type { Clock } from '../../../process/clock.ts';
import { type Addresses, NameFailure } from './addresses.ts';
import type { Asking, AskingRules, Question, Reply } from './asking.ts';

export interface LookUpRules {
  readonly clock: Clock;
  /** A name that has no answer by then is doubted, and so are the name servers. */
  readonly doubtedAt: number;
  /** The name has no answer when it has none by then. */
  readonly until: number;
  ask(
    questions: readonly Question[],
    limits: Pick<AskingRules, 'limitMs' | 'rounds'>,
    onReply: (question: Question, reply: Reply) => void,
  ): Asking;
  /** Returns whether the name servers have shown, by `until`, that they have worked since `since`. */
  isWorkingBy(until: number, since: number): Promise<boolean>;
  /** Notes that the name servers fail, and returns what is wrong. */
  fail(since: number, code: string): string;
}

/** With one family answered, the other has this long before a connection begins (RFC 8305, section 3). */
const OTHER_FAMILY_MS = 50;
/** Its addresses are used if they come within this time, milliseconds. */
const LATER_MS = 1000;
/** Name servers that work have to answer the name within this time at least, milliseconds. */
const CONFIRM_MS_MIN = 200;
/** Name servers that take longer to show that they work have held the name up, milliseconds. */
const HELD_UP_MS = 250;

/** Asks for the addresses of a name. */
export function lookUp(name: string, rules: LookUpRules): Promise<Addresses> {
  return new Promise((resolve, reject) => {
    new LookUp(name, rules, resolve).run().then((failure) => failure && reject(failure));
  });
}

class LookUp {
  readonly #rules: LookUpRules;
  readonly #resolve: (addresses: Addresses) => void;
  readonly #questions: readonly Question[];
  readonly #answers = new Map<Question, Reply>();
  #code = 'ENODATA';
  #isOver = false;
  #disarm = () => {};
  #wake = () => {};
  /** The addresses of the other family, for which nobody waits any more. */
  #later: ((addresses: readonly string[]) => void) | null = null;
  /** Since when the name servers are doubted, and when they showed that they work. */
  #doubted: { readonly since: number; provedAt: number | null } | null = null;

  constructor(name: string, rules: LookUpRules, resolve: (addresses: Addresses) => void) {
    this.#rules = rules;
    this.#resolve = resolve;
    this.#questions = [
      { name, type: 'A' },
      { name, type: 'AAAA' },
    ];
  }

  /** Returns the failure, or null when there are addresses. */
  async run(): Promise<NameFailure | null> {
    const { clock, doubtedAt, isWorkingBy, until, fail } = this.#rules;
    const asked = this.#ask(2);
    await Promise.race([asked, this.#sleepUntil(doubtedAt)]);
    this.#wake();
    if (this.#isOver) return null;
    if (this.#isAnswered) return new NameFailure(this.#code, null);
    const since = clock.now();
    this.#doubted = { since, provedAt: null };
    const isWorking = await isWorkingBy(until - CONFIRM_MS_MIN, since);
    if (isWorking) {
      this.#doubted.provedAt = clock.now();
      // They may have begun to work after the name was asked for.
      await Promise.all([asked, this.#isOver ? null : this.#ask(1)]);
    } else await asked;
    if (this.#isOver) return null;
    return new NameFailure(this.#code, isWorking || this.#isAnswered ? null : fail(since, this.#code));
  }

  /** Asks what is not answered yet. Resolves when that is answered, or has no answer. */
  #ask(rounds: number): Promise<void> {
    const { clock, until, ask } = this.#rules;
    const questions = this.#questions.filter((question) => !this.#answers.has(question));
    let open = questions.length;
    return new Promise((resolve) => {
      const asking = ask(questions, { limitMs: until - clock.now(), rounds }, (question, reply) => {
        open -= 1;
        this.#replied(question, reply, asking, open === 0);
        if (open === 0) resolve();
      });
    });
  }

  #replied(question: Question, reply: Reply, asking: Asking, isLast: boolean): void {
    // That no server answered explains more than that the other family has no addresses.
    if (!reply.isAnswer || this.#code === 'ENODATA') this.#code = reply.code ?? this.#code;
    if (reply.isAnswer && !this.#answers.has(question)) this.#answers.set(question, reply);
    if (this.#later) return void (isLast && this.#later(reply.records));
    if (this.#isOver || this.#addresses.length === 0) return;
    if (this.#isAnswered || isLast) this.#end(null);
    else this.#disarm = this.#at(OTHER_FAMILY_MS, () => this.#goOn(asking));
  }

  /** Goes on with the addresses of one family. */
  #goOn(asking: Asking): void {
    asking.endWithin(LATER_MS);
    this.#end(
      new Promise((later) => {
        this.#later = later;
      }),
    );
  }

  #end(later: Promise<readonly string[]> | null): void {
    this.#disarm();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#resolve({ first: this.#addresses, later, isHeldUp: this.#isHeldUp });
  }

  get #isAnswered(): boolean {
    return this.#answers.size === this.#questions.length;
  }

  get #addresses(): readonly string[] {
    return [...this.#answers.values()].flatMap(({ records }) => records);
  }

  get #isHeldUp(): boolean {
    if (!this.#doubted) return false;
    const { since, provedAt } = this.#doubted;
    return (provedAt ?? this.#rules.clock.now()) - since > HELD_UP_MS;
  }

  #sleepUntil(at: number): Promise<void> {
    return new Promise((resolve) => {
      const disarm = this.#rules.clock.at(at, resolve);
      this.#wake = () => {
        disarm();
        resolve();
      };
    });
  }

  #at(ms: number, callback: () => void): () => void {
    const { clock } = this.#rules;
    return clock.at(clock.now() + ms, callback);
  }
}
