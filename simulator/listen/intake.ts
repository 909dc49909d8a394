import type { Verdict } from '../../services/domain/verification/verification.ts';
import { type BodySummary, summarise } from '../receiver/body-summary.ts';
import type { CapturedExchange } from '../receiver/https-server.ts';
import { verifyRequest } from '../receiver/verification.ts';
import type { Attempts, StreamAttempt } from './attempts.ts';
import { type ForwardResult, forward, refuse } from './forward.ts';
import type { ForwardTarget } from './forward-target.ts';

/** A request that arrived, and what became of it. */
export interface Entry {
  /** 1, 2, … in the order of arrival. */
  readonly number: number;
  /** Milliseconds since the epoch, when the whole request was there. */
  readonly at: number;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly summary: BodySummary;
  /** null: there was no secret to verify it with. */
  readonly verdict: Verdict | null;
  /** `refused`: it was not authentic, and the app has not seen it. */
  readonly result: ForwardResult | { readonly kind: 'refused' };
  /** Milliseconds from its arrival to the end of the answer. */
  readonly durationMs: number;
  /** hookrail's record of the attempt, with what follows; undefined when it is not known. */
  readonly attempt: StreamAttempt | undefined;
}

export interface IntakeOptions {
  readonly target: ForwardTarget;
  readonly attempts: Attempts;
  readonly skipVerify: boolean;
  readonly onEntry: (entry: Entry) => void;
}

/** The path at which a listener says where it forwards to, for another one of the same address. */
export const LISTENER_PATH = '/.well-known/hookrail-listener';

/** Takes the requests of a listener: verifies each, sends it on, and reports what became of it. */
export class Intake {
  /** The endpoint's secret; requests that come before it is known are answered with 503, and come again. */
  secret: string | undefined;
  readonly #options: IntakeOptions;
  readonly #open = new Set<Promise<void>>();
  #count = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  take(exchange: CapturedExchange): void {
    const { request, response } = exchange;
    if (request.method === 'GET' && request.url === LISTENER_PATH) {
      const told = { forward_to: this.#options.target.url.href, pid: process.pid };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told));
      return;
    }
    const work = this.#process(exchange).finally(() => this.#open.delete(work));
    this.#open.add(work);
  }

  /** Resolves when every request that was taken has its answer and has been reported. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  async #process(exchange: CapturedExchange): Promise<void> {
    const { headers, body, at, request } = exchange;
    const { secret } = this;
    const { target, attempts, skipVerify, onEntry } = this.#options;
    if (secret === undefined) {
      refuse(exchange, 503, 'hookrail sim listen: not ready yet\n');
      return;
    }
    this.#count += 1;
    const number = this.#count;
    const verdict = verifyRequest({ headers, body }, secret, at / 1000);
    const isTaken = verdict.authentic || skipVerify;
    if (!isTaken) refuse(exchange, 401, `hookrail sim listen: not authentic: ${failedChecks(verdict)}\n`);
    const result = isTaken ? await forward(exchange, target) : { kind: 'refused' as const };
    const durationMs = Date.now() - at;
    const attempt = await attempts.of(headers);
    const summary = summarise(body);
    const method = request.method ?? '';
    onEntry({ number, at, method, headers, body, summary, verdict, result, durationMs, attempt });
  }
}

/** Names the checks that a request has failed. */
export function failedChecks({ checks }: Verdict): string {
  return checks
    .filter(({ ok }) => !ok)
    .map(({ name }) => name)
    .join(', ');
}
