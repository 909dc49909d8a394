/** The instrumentation scope of our spans. */

import type { Tracer } from '@opentelemetry/api';

export const SCOPE = 'hookrail';
export interface Tracing {
  /** Null = off: check this before making a span. */
  readonly tracer: Tracer | null;
  /** Sends the remaining spans, within seconds. May be called twice. */
  stop(): Promise<void>;
}
