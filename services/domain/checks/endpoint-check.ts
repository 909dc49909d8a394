import type { CustomHeader } from '../controls/custom-headers.ts';

/**
 * The check of an endpoint: whether its server is reached as webhooks reach it, step by step, without a webhook. Each step
 * says what was found and, where that is a fault, what helps.
 */
export const CHECK_STEPS = ['dns', 'tcp', 'tls', 'answer', 'redirect', 'latency'] as const;
export type CheckStepName = (typeof CHECK_STEPS)[number];

/** From the best to the worst. `not_tried`: a step before it failed, or the service itself was at fault. */
const CHECK_RESULTS = ['ok', 'not_tried', 'warning', 'failed'] as const;
export type CheckResult = (typeof CHECK_RESULTS)[number];

export interface CheckStep {
  readonly step: CheckStepName;
  readonly result: CheckResult;
  /** One sentence: what was found. */
  readonly says: string;
  /** The change that helps; null: none is needed. */
  readonly remedy: string | null;
  /** Null: it was not tried. */
  readonly durationMs: number | null;
  /** The values behind the sentence, by their names in the API. */
  readonly facts: Readonly<Record<string, string | number | readonly string[]>>;
}

export interface EndpointCheck {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The URL that was checked. */
  readonly url: string;
  readonly result: CheckResult;
  readonly steps: readonly CheckStep[];
}

/** Checks a URL with the headers of the endpoint's own. Never rejects; a signal that fires ends it. */
export type CheckUrl = (
  url: string,
  signal: AbortSignal,
  headers?: readonly CustomHeader[],
) => Promise<readonly CheckStep[]>;

/** Returns the worst result of some steps. */
export function resultOf(steps: readonly Pick<CheckStep, 'result'>[]): CheckResult {
  return steps.reduce<CheckResult>(
    (worst, { result }) => (CHECK_RESULTS.indexOf(result) > CHECK_RESULTS.indexOf(worst) ? result : worst),
    'ok',
  );
}
