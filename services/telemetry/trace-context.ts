import { type Context, isSpanContextValid, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api';

/** The name of the header, in HTTP as on Kafka. */
export const TRACEPARENT = 'traceparent';

/** A future version's header may be longer; this is more than any needs. */
const LENGTH_MAX = 512;
const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Sampled, and random trace id: the flags defined so far. Others must not be passed on. */
const FLAGS_KNOWN = 0b11;

/**
 * Returns a `traceparent` header as version 00 writes it. Returns undefined when there is none, several, or a
 * malformed one: then the trace begins here (W3C Trace Context, sections 3.2 and 4.3). Of a later version the first
 * four fields are used.
 */
export function readTraceparent(header: unknown): string | undefined {
  if (typeof header !== 'string' && !(header instanceof Uint8Array)) return undefined;
  if (header.length > LENGTH_MAX) return undefined;
  const text = typeof header === 'string' ? header : Buffer.from(header).toString('latin1');
  const [, version, traceId, spanId, flags = '', more] = FORMAT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return traceparentOf({ traceId, spanId, traceFlags: Number.parseInt(flags, 16) & FLAGS_KNOWN });
}

/** Returns the header that names a span; undefined for ids of zeros, which name none. */
export function traceparentOf(context: SpanContext): string | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags } = context;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Returns the remote span that a `traceparent` names; undefined when it names none. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const read = readTraceparent(traceparent);
  if (read === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = read.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** Returns the context that a new span continues: the named span, or nothing. */
export function parentContextOf(traceparent: string | undefined): Context {
  const parent = spanContextOf(traceparent);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Converts milliseconds since the epoch to OpenTelemetry's seconds and nanoseconds, without losing fractions. */
export function spanTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1_000_000)];
}
