import type { components } from '../../client/generated/merchant-api.ts';

export type Problem = Partial<components['schemas']['Problem']>;

/** The API refused a request. The message is what it says about it. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly title: string;
  /** Names the request to support. */
  readonly requestId: string | null;
  readonly retryAfterMs: number | undefined;
  /** The parts of the request that are wrong, by their JSON pointers. */
  readonly faults: NonNullable<Problem['errors']>;
  /** The endpoint that has the URL already. */
  readonly existing: string | undefined;

  constructor(response: Response, problem: Problem) {
    super(problem.detail || problem.title || `The service answered ${response.status}.`);
    this.status = response.status;
    this.code = problem.code;
    this.title = problem.title || `HTTP ${response.status}`;
    this.requestId = problem.request_id ?? response.headers.get('x-request-id');
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.faults = problem.errors ?? [];
    this.existing = problem.existing_uuid;
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

/** The service gave no response at all. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The service cannot be reached. The console tries again by itself.', { cause });
  }
}

export function isSignedOut(error: unknown): error is Refusal {
  return error instanceof Refusal && error.status === 401;
}
