import createClient, { type Client } from 'openapi-fetch';
import { visible } from '../../services/domain/text/visible-text.ts';
import { formatDuration } from '../duration.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { paths } from '../generated/merchant-api.ts';
import { mustHave, type Shape } from './answer-shape.ts';
import { withVisibleTexts } from './foreign-texts.ts';
import { OTHER_ENVIRONMENT, productionRefused, refuseProduction } from './production.ts';
import { readText } from './read-text.ts';
import { ServiceClock } from './service-clock.ts';

/** The time limit of a response, unless the call has its own. */
const TIMEOUT_MS = 15_000;

/** The longest time to wait for the API's rate limit, which is one per minute. */
const LIMIT_WAIT_MS = 60_000;

/** OpenSSL's reasons for an answer that is not TLS. */
const NOT_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/;

/** RFC 9457, as the API sends it (docs/decisions.md, "Errors"). */
export interface Problem {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly status?: number;
  readonly request_id?: string;
  readonly errors?: readonly {
    readonly pointer?: string;
    readonly code?: string;
    readonly detail?: string;
  }[];
}

/** The API refused. The message contains everything in the problem document. */
export class ApiRefusal extends CommandFailure {
  readonly status: number;
  readonly problem: Problem;
  readonly retryAfterMs: number | undefined;

  constructor(request: string, response: Response, problem: Problem) {
    const { status } = response;
    const exitCode = status === 401 || status === 403 ? EXIT.authentication : EXIT.api;
    super(exitCode, describe(request, status, problem), nextSteps(problem.code, request));
    this.status = status;
    this.problem = problem;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

export interface ClientOptions {
  /** The address to suggest when the one in use is not the API's. */
  readonly otherBaseUrl?: string;
  /** Asks before the first request whether the service is a sandbox, because its key does not tell. */
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
    const { whenLimited } = this.#options;
    return async (request) => {
      if (whenLimited === undefined) return this.#exchange(request, timeoutMs);
      const again = request.clone();
      try {
        return await this.#exchange(request, timeoutMs);
      } catch (error) {
        if (!(error instanceof ApiRefusal) || error.status !== 429) throw error;
        const waitMs = error.retryAfterMs ?? LIMIT_WAIT_MS;
        if (waitMs > LIMIT_WAIT_MS) throw error;
        await whenLimited(waitMs);
        return this.#exchange(again, timeoutMs);
      }
    };
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
      this.clock.note(response.headers.get('date'));
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
      this.clock.note(response.headers.get('date'));
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
    return new CommandFailure(EXIT.unreachable, `${this.#baseUrl} cannot be reached (${reason})`, [
      'start the sandbox with: hookrail start',
      'check which address is used with: hookrail sim whoami',
    ]);
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

/** Returns the body of a successful operation; only a deletion has none. */
export async function bodyOf<Body>(
  answer: Promise<{ readonly data?: Body }>,
  shape: Shape = {},
): Promise<NonNullable<Body>> {
  const { data } = await answer;
  if (data === undefined || data === null) {
    throw new CommandFailure(EXIT.api, "the response is empty: is this hookrail's API?", [
      'check which address is used with: hookrail sim whoami',
    ]);
  }
  mustHave(data, shape);
  return data;
}

/** A problem document of another service may have anything in the place of its texts. */
function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { code, title, detail, request_id, errors } = value as Record<string, unknown>;
  const isText = (one: unknown) => one === undefined || typeof one === 'string';
  const areErrors =
    errors === undefined ||
    (Array.isArray(errors) && errors.every((one) => typeof one === 'object' && one !== null));
  return [code, title, detail, request_id].every(isText) && areErrors;
}

function asProblem(text: string): Problem {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isProblem(parsed)) return withVisibleTexts(parsed);
  } catch {
    // Not from hookrail: a proxy's page, for example. The first line is enough.
  }
  return { detail: visible(text.split('\n', 1)[0]?.slice(0, 200) ?? '') };
}

/** Returns the value of a response; undefined when it is empty. */
function parsedJson(text: string, url: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(EXIT.api, `the response of ${url} is not JSON: is this hookrail's API?`, [
      'check which address is used with: hookrail sim whoami',
    ]);
  }
}

function describe(request: string, status: number, problem: Problem): string {
  const lines = [`${request} → ${status} ${problem.code ?? problem.title ?? ''}`.trimEnd()];
  if (problem.detail) lines.push(`  ${visible(problem.detail)}`);
  for (const error of problem.errors ?? []) {
    lines.push(visible(`  ${error.pointer ?? ''} ${error.code ?? ''}: ${error.detail ?? ''}`.trimEnd()));
  }
  if (problem.request_id) lines.push(`  request ${problem.request_id}`);
  return lines.join('\n');
}

/** Returns the next command for refusals that have an obvious one. */
function nextSteps(code: string | undefined, request: string): readonly string[] {
  const endpoint = /\/webhook-endpoints\/([^/]+)/.exec(request)?.[1] ?? '<uuid>';
  switch (code) {
    case 'api_key_missing':
    case 'api_key_malformed':
    case 'api_key_invalid':
      return ['check which key is used, and where it came from, with: hookrail sim whoami'];
    case 'webhook_endpoint_not_found':
      return ['list your endpoints with: hookrail sim endpoints list'];
    case 'endpoint_not_active':
      return [`enable it with: hookrail sim endpoints enable ${endpoint}`];
    case 'replay_running':
      return ['see what it sends: hookrail sim deliveries tail'];
    case 'test_not_resendable':
      return [`hookrail sim endpoints test ${endpoint}`];
    case 'subtype_type_mismatch':
      return ['list types and subTypes with: hookrail sim catalog'];
    case 'url_already_registered':
      return ['the endpoint exists already; list your endpoints with: hookrail sim endpoints list'];
    default:
      return [];
  }
}

/** Says that the API's rate limit is reached, and how long it lasts. */
export function limitReached(waitMs: number): string {
  return `the API's limit of requests is reached; waiting ${formatDuration(waitMs)}`;
}
