import { promises as dns } from 'node:dns';
import type { Clock } from '../../../process/clock.ts';
import type { Addresses } from './addresses.ts';
import { Asking, type AskingRules, type OpenedServer, type Question, type Reply } from './asking.ts';
import { lookUp } from './look-up.ts';

export interface NameServersOptions {
  readonly clock: Clock;
  /** The limit for DNS, TCP and TLS together, milliseconds: a name may take nearly all of it. */
  readonly connectTimeoutMs: number;
  /** Returns the addresses of the name servers, `address` or `address:port`; the system's by default. Asked anew for every look-up. */
  readonly servers?: () => readonly string[];
}

/** The shares of the connect time-out after which a name has no answer, and is doubted, and what the doubt may take. */
const LIMIT_SHARE = 0.95;
const DOUBT_SHARE = 0.5;
const CONTROL_SHARE = 0.4;
/** The name servers are asked again, while they fail, when somebody wants to know and this time has passed. */
const CONTROL_EVERY_MS = 1000;
/** After this long, names that are resolved show that the control question is not answered on purpose, milliseconds. */
const DISBELIEF_MS = 60_000;
/** Every name server knows the servers of the root: a name's own servers have no part in this answer. */
const CONTROL: Question = { name: '.', type: 'NS' };
/** A server's answers that it does not answer such a question, whatever its state. */
const UNWILLING: ReadonlySet<string> = new Set(['EREFUSED', 'ENOTIMP', 'EFORMERR']);

/**
 * The name servers of this machine, asked for merchants' names directly: without the hosts file and search domains, and
 * without the thread pool that one slow name could fill.
 *
 * Each look-up reads the system's list of servers again and opens sockets of its own, so that nothing is believed of
 * servers that have been replaced. (c-ares also learns how long a server usually takes and does not wait longer: a name
 * whose own servers take a second would never be resolved.)
 *
 * When a name has no answer, the servers are asked a control question. Without an answer to that, the fault is ours.
 */
export class NameServers {
  readonly #options: NameServersOptions;
  #list = '';
  /** The position of the server that is asked first: the one that answered last. */
  #first = 0;
  /** When the control question that was answered last was asked. */
  #provedAt = Number.NEGATIVE_INFINITY;
  #control: { readonly from: number; readonly ended: Promise<string | null> } | null = null;
  /** Servers that refuse the control question are judged by the names that they resolve. */
  #answersControl = true;
  #resolved: string | null = null;
  #resolvedAt = Number.NEGATIVE_INFINITY;
  #failing: { readonly since: number; readonly what: string; readonly seenAt: number } | null = null;

  constructor(options: NameServersOptions) {
    this.#options = options;
  }

  /** Describes the fault of the name servers, null without one; asks them again from time to time while there is one. */
  get failing(): string | null {
    const now = this.#options.clock.now();
    if (this.#failing && now - this.#failing.seenAt > CONTROL_EVERY_MS) void this.#isWorking(now);
    return this.#failing?.what ?? null;
  }

  /** Returns the addresses of a name as soon as there are some, or rejects with a NameFailure. */
  resolve(hostname: string): Promise<Addresses> {
    const { clock, connectTimeoutMs } = this.#options;
    const from = clock.now();
    return lookUp(hostname, {
      clock,
      doubtedAt: from + connectTimeoutMs * DOUBT_SHARE,
      until: from + connectTimeoutMs * LIMIT_SHARE,
      ask: (questions, limits, onReply) =>
        this.#ask(questions, limits, (question, reply) => {
          if (reply.isAnswer) this.#answered(hostname, reply, from);
          onReply(question, reply);
        }),
      isWorkingBy: (until, since) => this.#isWorkingBy(until, since),
      fail: (since, code) => this.#fail(since, code),
    });
  }

  #isWorkingBy(until: number, since: number): Promise<boolean> {
    return new Promise((resolve) => {
      const disarm = this.#options.clock.at(until, () => resolve(false));
      this.#isWorking(since).then((isWorking) => {
        disarm();
        resolve(isWorking);
      });
    });
  }

  /** Returns whether the name servers have answered what they were asked at `since` or later; asks them if need be. */
  async #isWorking(since: number): Promise<boolean> {
    while (this.#provedAt < since) {
      const wasWilling = this.#answersControl;
      const { from, ended } = this.#controlled();
      const code = await ended;
      if (code === null || from < since || (wasWilling && !this.#answersControl)) continue;
      if (this.#provedAt < since) this.#fail(since, code);
      return this.#provedAt >= since;
    }
    return true;
  }

  /** Notes that the name servers fail, and returns what is wrong. */
  #fail(since: number, code: string): string {
    const what = `the name servers (${this.#list || 'none'}) answer no question: ${code}`;
    this.#failing = { since: this.#failing?.since ?? since, what, seenAt: this.#options.clock.now() };
    return what;
  }

  /** Asks the control question, unless it is being asked. `ended`: null, or the code of its failure. */
  #controlled(): { readonly from: number; readonly ended: Promise<string | null> } {
    if (this.#control) return this.#control;
    const from = this.#options.clock.now();
    const limitMs = this.#options.connectTimeoutMs * CONTROL_SHARE;
    const known: Question[] = [];
    if (!this.#answersControl && this.#resolved) known.push({ name: this.#resolved, type: 'A' });
    let open = 1 + known.length;
    let failure: string | null = null;
    const ended = new Promise<string | null>((resolve) => {
      this.#ask([CONTROL, ...known], { limitMs, rounds: 2 }, (question, { isAnswer, code }) => {
        open -= 1;
        if (isAnswer) {
          if (question === CONTROL) this.#answersControl = true;
          this.#proved(from);
        } else if (question === CONTROL) {
          failure = code;
          this.#answersControl &&= !this.#isUnwilling(code ?? '');
        }
        if (open > 0) return;
        this.#control = null;
        resolve(this.#provedAt >= from ? null : failure);
      });
    });
    this.#control = { from, ended };
    return this.#control;
  }

  #isUnwilling(code: string): boolean {
    if (UNWILLING.has(code)) return true;
    const { since } = this.#failing ?? { since: Number.POSITIVE_INFINITY };
    return this.#options.clock.now() - since > DISBELIEF_MS && this.#resolvedAt > since;
  }

  #answered(hostname: string, { records }: Reply, from: number): void {
    if (records.length > 0) {
      this.#resolved = hostname;
      this.#resolvedAt = Math.max(this.#resolvedAt, from);
    }
    // A forwarder may answer from its memory what nobody behind it answers any more: the control question is better.
    if (!this.#answersControl) this.#proved(from);
    else if (this.#failing) void this.#isWorking(this.#options.clock.now());
  }

  #proved(from: number): void {
    this.#provedAt = Math.max(this.#provedAt, from);
    if (this.#failing && this.#failing.since <= from) this.#failing = null;
  }

  #ask(
    questions: readonly Question[],
    limits: Pick<AskingRules, 'limitMs' | 'rounds'>,
    onReply: (question: Question, reply: Reply) => void,
  ): Asking {
    const { clock } = this.#options;
    const rules: AskingRules = { clock, ...limits, open: (turn) => this.#open(turn, limits.limitMs) };
    return new Asking(rules, questions, onReply);
  }

  /** Opens the server whose turn it is, of those that the system has now. */
  #open(turn: number, limitMs: number): OpenedServer {
    // What c-ares itself does after its time-out is of no use: a server is asked again by a resolver of its own.
    const resolver = new dns.Resolver({ timeout: Math.ceil(limitMs), tries: 1 });
    const servers = this.#options.servers?.() ?? resolver.getServers();
    const list = servers.join(', ');
    if (list !== this.#list) {
      this.#list = list;
      this.#first = 0;
      this.#answersControl = true;
    }
    // Node loses the interface of a link-local address: when there are no others, c-ares keeps the list that it has read.
    const usable = servers.filter((server) => !isLinkLocal(server));
    const of = Math.max(1, usable.length);
    const position = (this.#first + turn) % of;
    const server = usable[position];
    if (server !== undefined) resolver.setServers([server]);
    const answered = () => {
      if (list === this.#list) this.#first = position;
    };
    return { resolver, of, answered };
  }
}

function isLinkLocal(server: string): boolean {
  return /^\[?fe[89ab]/i.test(server);
}
