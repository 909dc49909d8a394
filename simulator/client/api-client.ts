import createClient, { type Client } from 'openapi-fetch';
import { formatDuration } from '../../client/duration.ts';
import type { paths } from '../../client/generated/merchant-api.ts';
import { ServiceClock } from '../../client/service-clock.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { mustHave, type Shape } from './answer-shape.ts';
import { ApiRefusal, asProblem } from './api-refusal.ts';
import { withVisibleTexts } from './foreign-texts.ts';
import { OTHER_ENVIRONMENT, productionRefused, refuseProduction } from './production.ts';
import { readText } from './read-text.ts';
import { sleep } from './sleep.ts';

/** The time limit of a response, unless the call has its own. */
const TIMEOUT_MS = 15_000;

/** The longest time to wait for the API's rate limit, which is one per minute. */
const LIMIT_WAIT_MS = 60_000;

/** The pause before a request whose connection broke is sent again. */
const REPEAT_MS = 500;

/** The connection was made, and ended before the response. */
const BROKEN = /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/;

const WHICH_ADDRESS = 'check which address is used with: hookrail sim whoami';

/** OpenSSL's reasons for an answer that is not TLS. */
const NOT_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/;

export interface ClientOptions {
  /** The address to suggest when the one in use is not the API's. */
  readonly otherBaseUrl?: string;
  /** Asks before the first request whether the service is a sandbox, so that production is sent no event. */
  readonly asksEnvironment?: boolean;
  /** The clock that several clients of one service share. */
  readonly clock?: ServiceClock;
  /** Leaves texts of answers as they are, for output that programs read; by default they are escaped for a terminal. */
  readonly keepsTexts?: boolean;
  /** Waits until the API's rate limit allows requests again; the request is then repeated once. */
  readonly whenLimited?: (waitMs: number) => Promise<void>;
}

/** The command line's client of the merchant API (or the producer routes). */
export class ApiClient {
  /**
   * The operations of openapi.yaml by method and path, typed by it. They resolve with a success. They throw ApiRefusal,
   * or a failure with exit code 5 (no answer in time) or 6 (not reachable).
   */
  readonly rest: Client<paths>;
  /** The service's clock. */
  readonly clock: ServiceClock;
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #options: ClientOptions;
  #isSandbox = false;

  constructor(baseUrl: string, key: string, signal: AbortSignal, options: ClientOptions = {}) {
    this.#baseUrl = baseUrl;
    this.#key = key;
    this.#signal = signal;
    this.#options = options;
    this.clock = options.clock ?? new ServiceClock();
    this.rest = createClient<paths>({ baseUrl, fetch: this.within(TIMEOUT_MS) });
  }

  /** Returns the service's time, milliseconds since the epoch; asks the service when it has not responded yet. */
  async now(): Promise<number> {
    if (!this.clock.isKnown) await this.within(TIMEOUT_MS)(new Request(`${this.#baseUrl}/`));
    return this.clock.now();
  }

  /** Returns the option `fetch` for a request of `rest` that may take longer. */
  within(timeoutMs: number): (request: Request) => Promise<Response> {
    return async (request) => {
      const again = request.clone();
      try {
        return await this.#exchange(request, timeoutMs);
      } catch (error) {
        if (!(await this.#mayBeRepeated(request, error))) throw error;
        return this.#exchange(again, timeoutMs);
      }
    };
  }

  /** Returns whether a request that failed like this may be sent again, once; waits first for as long as it has to. */
  async #mayBeRepeated(request: Request, error: unknown): Promise<boolean> {
    const { whenLimited } = this.#options;
    if (error instanceof BrokenConnection && isRepeatable(request)) {
      await sleep(REPEAT_MS, this.#signal);
      return true;
    }
    if (!(error instanceof ApiRefusal) || error.status !== 429 || whenLimited === undefined) return false;
    const waitMs = error.retryAfterMs ?? LIMIT_WAIT_MS;
    if (waitMs > LIMIT_WAIT_MS) return false;
    await whenLimited(waitMs);
    return true;
  }

  /**
   * Opens a response that is read as it comes; `signal` ends it. It must begin within the usual time, and then has no
   * time limit. Failures are those of `rest`.
   */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), TIMEOUT_MS);
    const name = `GET ${new URL(this.#baseUrl + path).pathname}`;
    try {
      const ended = AbortSignal.any([late.signal, this.#signal, signal]);
      await this.#mustBeSandbox(ended);
      const authorized = { ...headers, authorization: `API-Key ${this.#key}` };
      const options = { headers: authorized, redirect: 'manual', signal: ended } as const;
      const response = await fetch(this.#baseUrl + path, options);
      this.clock.note(response.headers);
      if (response.status >= 300) await this.#refuse(name, response, await readText(response), ended);
      return response;
    } catch (error) {
      throw this.#named(error, late.signal, name);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns what the API sent as the commands take it. */
  taken<Value>(value: Value): Value {
    return this.#options.keepsTexts ? value : withVisibleTexts(value);
  }

  async #exchange(request: Request, timeoutMs: number): Promise<Response> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const name = `${request.method} ${new URL(request.url).pathname}`;
    try {
      request.headers.set('accept', 'application/json');
      request.headers.set('authorization', `API-Key ${this.#key}`);
      const signal = AbortSignal.any([timeout, this.#signal]);
      await this.#mustBeSandbox(signal);
      const response = await fetch(request, { redirect: 'manual', signal });
      this.clock.note(response.headers);
      const text = await readText(response);
      if (response.status >= 300) await this.#refuse(name, response, text, signal);
      const answer = this.taken(parsedJson(text, request.url));
      const { status, headers } = response;
      return new Response(answer === undefined ? null : JSON.stringify(answer), { status, headers });
    } catch (error) {
      throw this.#named(error, timeout, name);
    }
  }

  /** Asks once, before anything is sent. */
  async #mustBeSandbox(signal: AbortSignal): Promise<void> {
    if (this.#options.asksEnvironment && !this.#isSandbox) await refuseProduction(this.#baseUrl, signal);
    this.#isSandbox = true;
  }

  async #refuse(name: string, response: Response, text: string, signal: AbortSignal): Promise<never> {
    const problem = asProblem(text);
    if (problem.code === OTHER_ENVIRONMENT) throw productionRefused(this.#baseUrl);
    if (problem.code === undefined) await this.#mustBeTheApi(signal);
    throw new ApiRefusal(name, response, problem);
  }

  #named(error: unknown, timeout: AbortSignal, request: string): unknown {
    if (error instanceof CommandFailure || this.#signal.aborted) return error;
    if (timeout.aborted) {
      return new CommandFailure(EXIT.timeout, `no response to ${request} from ${this.#baseUrl} in time`);
    }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    if (NOT_TLS.test(reason)) {
      const http = this.#baseUrl.replace(/^https:/, 'http:');
      return new CommandFailure(EXIT.unreachable, `${this.#baseUrl} speaks plain HTTP, not TLS`, [
        `hookrail sim whoami --base-url ${http}`,
      ]);
    }
    const next = ['start the sandbox with: hookrail start', WHICH_ADDRESS];
    if (BROKEN.test(reason)) return new BrokenConnection(this.#baseUrl, request, reason, next);
    return new CommandFailure(EXIT.unreachable, `${this.#baseUrl} cannot be reached (${reason})`, next);
  }

  /** Throws when the address is the one of the operations server, which answers its own paths only. */
  async #mustBeTheApi(signal: AbortSignal): Promise<void> {
    const ready = await fetch(`${this.#baseUrl}/readyz`, { redirect: 'manual', signal });
    const isOperations =
      (ready.status === 200 || ready.status === 503) && /"ready":/.test(await readText(ready));
    if (!isOperations) return;
    const { otherBaseUrl } = this.#options;
    throw new CommandFailure(EXIT.usage, `${this.#baseUrl} is the operations port, not the API`, [
      `hookrail sim whoami${otherBaseUrl === undefined ? '' : ` --base-url ${otherBaseUrl}`}`,
    ]);
  }
}

/** The connection broke while the response was awaited: whether the request was carried out is unknown. */
class BrokenConnection extends CommandFailure {
  constructor(baseUrl: string, request: string, reason: string, next: readonly string[]) {
    const unknown = request.startsWith('GET ') ? '' : ', which may have been carried out';
    super(
      EXIT.unreachable,
      `the connection to ${baseUrl} broke during ${request} (${reason})${unknown}`,
      next,
    );
  }
}

/**
 * Returns whether a request may be sent again though it may have been carried out (RFC 9110, section 9.2.2): it only
 * reads, or publishes events, whose ids say that they were taken before.
 */
function isRepeatable({ method, url }: Request): boolean {
  return method === 'GET' || new URL(url).pathname.endsWith('/producer/events');
}

/** Returns the body of a successful operation; only a deletion has none. */
export async function bodyOf<Body>(
  answer: Promise<{ readonly data?: Body }>,
  shape: Shape = {},
): Promise<NonNullable<Body>> {
  const { data } = await answer;
  if (data === undefined || data === null) {
    throw new CommandFailure(EXIT.api, "the response is empty: is this hookrail's API?", [WHICH_ADDRESS]);
  }
  mustHave(data, shape);
  return data;
}

/** Returns the value of a response; undefined when it is empty. */
function parsedJson(text: string, url: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(EXIT.api, `the response of ${url} is not JSON: is this hookrail's API?`, [
      WHICH_ADDRESS,
    ]);
  }
}

/** Says that the API's rate limit is reached, and how long it lasts. */
export function limitReached(waitMs: number): string {
  return `the API's limit of requests is reached; waiting ${formatDuration(waitMs)}`;
}
