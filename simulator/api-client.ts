import { CommandFailure, EXIT } from './exit.ts';

/** An answer takes at most this long, unless the call says otherwise. */
const TIMEOUT_MS = 15_000;
/** An answer is at most this large: the longest is a page of 100 deliveries. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** RFC 9457, as the API sends it (decisions §1, "Errors"). */
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

/** The API refused. The message has everything the problem document says. */
export class ApiRefusal extends CommandFailure {
  readonly status: number;
  readonly problem: Problem;
  readonly retryAfterMs: number | undefined;

  constructor(request: string, response: Response, problem: Problem) {
    const { status } = response;
    const exitCode = status === 401 || status === 403 ? EXIT.authentication : EXIT.api;
    super(exitCode, describe(request, status, problem), nextSteps(problem.code));
    this.status = status;
    this.problem = problem;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

export interface ApiRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly timeoutMs?: number;
}

export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** The merchant API (or the producer routes), seen by the command line. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #signal: AbortSignal;

  constructor(baseUrl: string, key: string, signal: AbortSignal) {
    this.#baseUrl = baseUrl;
    this.#key = key;
    this.#signal = signal;
  }

  /** One request. Throws ApiRefusal, or a failure with exit code 5 (no answer in time) or 6 (not reachable). */
  async call<Body = unknown>(
    method: string,
    path: string,
    request: ApiRequest = {},
  ): Promise<ApiAnswer<Body>> {
    const url = new URL(this.#baseUrl + path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const timeout = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS);
    const headers: Record<string, string> = {
      accept: 'application/json',
      authorization: `API-Key ${this.#key}`,
      ...request.headers,
    };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    try {
      const response = await fetch(url, {
        method,
        headers,
        redirect: 'manual',
        signal: AbortSignal.any([timeout, this.#signal]),
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      });
      const text = await readText(response);
      if (response.status >= 300) throw new ApiRefusal(`${method} ${path}`, response, asProblem(text));
      return { status: response.status, headers: response.headers, body: asJson(text, url) as Body };
    } catch (error) {
      throw this.#named(error, timeout, `${method} ${path}`);
    }
  }

  #named(error: unknown, timeout: AbortSignal, request: string): unknown {
    if (error instanceof CommandFailure || this.#signal.aborted) return error;
    if (timeout.aborted) {
      return new CommandFailure(EXIT.timeout, `no answer to ${request} from ${this.#baseUrl} in time`);
    }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    return new CommandFailure(EXIT.unreachable, `${this.#baseUrl} cannot be reached (${reason})`, [
      'start the sandbox with: npm start',
      'see which address is used with: npm run sim -- whoami',
    ]);
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) {
      throw new CommandFailure(
        EXIT.api,
        `the answer of ${response.url} is larger than ${ANSWER_BYTES_MAX} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asProblem(text: string): Problem {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // Not from hookrail: a proxy's page, for example. The first line says enough.
  }
  return { detail: text.split('\n', 1)[0]?.slice(0, 200) ?? '' };
}

function asJson(text: string, url: URL): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(EXIT.api, `the answer of ${url.href} is not JSON: is this hookrail's API?`);
  }
}

function describe(request: string, status: number, problem: Problem): string {
  const lines = [`${request} → ${status} ${problem.code ?? problem.title ?? ''}`.trimEnd()];
  if (problem.detail) lines.push(`  ${problem.detail}`);
  for (const error of problem.errors ?? []) {
    lines.push(`  ${error.pointer ?? ''} ${error.code ?? ''}: ${error.detail ?? ''}`.trimEnd());
  }
  if (problem.request_id) lines.push(`  request ${problem.request_id}`);
  return lines.join('\n');
}

/** The next command for refusals that have an obvious one. */
function nextSteps(code: string | undefined): readonly string[] {
  switch (code) {
    case 'api_key_missing':
    case 'api_key_malformed':
    case 'api_key_invalid':
    case 'api_key_environment_mismatch':
      return ['see which key is used, and where it came from, with: npm run sim -- whoami'];
    case 'webhook_endpoint_not_found':
      return ['list your endpoints with: npm run sim -- endpoints list'];
    case 'endpoint_not_active':
      return ['enable it with: npm run sim -- endpoints enable <uuid>'];
    case 'subtype_type_mismatch':
      return ['list types and subTypes with: npm run sim -- trigger --help'];
    case 'url_already_registered':
      return ['the endpoint is there already: npm run sim -- endpoints list'];
    default:
      return [];
  }
}
