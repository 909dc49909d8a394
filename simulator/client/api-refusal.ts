import { visible } from '../../services/domain/text/visible-text.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { withVisibleTexts } from './foreign-texts.ts';

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
    const { says, next } = inWords(problem.code, request);
    super(exitCode, says ?? describe(request, status, problem), next);
    this.status = status;
    this.problem = problem;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

const WHICH_KEY = 'check which key is used, and where it came from, with: hookrail sim whoami';

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

/** Reads a problem document; of anything else, the first line. */
export function asProblem(text: string): Problem {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isProblem(parsed)) return withVisibleTexts(parsed);
  } catch {
    // Not from hookrail: a proxy's page, for example. The first line is enough.
  }
  return { detail: visible(text.split('\n', 1)[0]?.slice(0, 200) ?? '') };
}

/** A refusal that has a reason is told by that; of any other, the whole document is shown. */
function describe(request: string, status: number, problem: Problem): string {
  const { code, detail } = problem;
  const [error, ...others] = problem.errors ?? [];
  if (status < 500 && code && detail) {
    const why = others.length === 0 && error?.detail && error.detail !== detail ? `: ${error.detail}` : '';
    const told = [`${detail.replace(/\.$/, '')}${why} (${code})`];
    for (const one of others.length > 0 ? [error, ...others] : []) {
      told.push(`  ${one?.pointer ?? ''}: ${one?.detail ?? one?.code ?? ''}`);
    }
    return told.map(visible).join('\n');
  }
  const lines = [`${request} → ${status} ${problem.code ?? problem.title ?? ''}`.trimEnd()];
  if (problem.detail) lines.push(`  ${visible(problem.detail)}`);
  for (const error of problem.errors ?? []) {
    lines.push(visible(`  ${error.pointer ?? ''} ${error.code ?? ''}: ${error.detail ?? ''}`.trimEnd()));
  }
  if (problem.request_id) lines.push(`  request ${problem.request_id}`);
  return lines.join('\n');
}

/** The sentence for a refusal of the API, and the command that helps; `<endpoint>` is the one of the request. */
const IN_WORDS: Readonly<Record<string, { readonly says?: string; readonly next: string }>> = {
  api_key_missing: { next: WHICH_KEY },
  api_key_malformed: { next: WHICH_KEY },
  api_key_invalid: { next: WHICH_KEY },
  webhook_endpoint_not_found: {
    says: 'the merchant has no endpoint <endpoint>',
    next: 'list your endpoints with: hookrail sim endpoints list',
  },
  event_not_found: {
    says: 'the merchant has no such event; old ones are not kept',
    next: 'list them with: hookrail sim events list',
  },
  subject_not_found: { next: WHICH_KEY },
  id_not_found: { next: WHICH_KEY },
  endpoint_not_active: {
    says: 'the endpoint <endpoint> is disabled',
    next: 'enable it with: hookrail sim endpoints enable <endpoint>',
  },
  replay_running: { next: 'see what it sends: hookrail sim deliveries tail' },
  test_not_resendable: { next: 'hookrail sim endpoints test <endpoint>' },
  subtype_type_mismatch: { next: 'list types and subTypes with: hookrail sim catalog' },
  url_already_registered: {
    says: 'another endpoint has this URL: a receiver could not tell the two secrets apart',
    next: 'list your endpoints with: hookrail sim endpoints list',
  },
};

function inWords(code: string | undefined, request: string): { says?: string; next: readonly string[] } {
  const found = Object.hasOwn(IN_WORDS, code ?? '') ? IN_WORDS[code ?? ''] : undefined;
  if (found === undefined) return { next: [] };
  const endpoint = /\/webhook-endpoints\/([^/]+)/.exec(request)?.[1] ?? '<endpoint>';
  const { says, next } = found;
  const filled = (text: string) => text.replace('<endpoint>', endpoint);
  return { ...(says === undefined ? {} : { says: `${filled(says)} (${code})` }), next: [filled(next)] };
}
