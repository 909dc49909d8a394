import { type Context, isSpanContextValid, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api';

/** The name of the header, in HTTP as on Kafka. */
export const TRACEPARENT = 'traceparent';

/** A version that is not known yet may be longer; nobody needs this much. */
const LENGTH_MAX = 512;
const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Sampled, and random trace id: all flags that are defined. Others must not be passed on. */
const FLAGS_KNOWN = 0b11;

/**
 * A `traceparent` header as version 00 writes it, or undefined: without one, with several, or with one that is malformed,
 * the trace begins here (W3C Trace Context, sections 3.2 and 4.3). Of a later version its first four fields are taken.
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

/** The header that names a span; undefined for ids of zeros, which name none. */
export function traceparentOf(context: SpanContext): string | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags } = context;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The span that a `traceparent` names, in another process; undefined when it names none. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const read = readTraceparent(traceparent);
  if (read === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = read.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** What a new span continues: the span that is named, or nothing. */
export function parentContextOf(traceparent: string | undefined): Context {
  const parent = spanContextOf(traceparent);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Milliseconds since the epoch as OpenTelemetry takes them without losing fractions: seconds, nanoseconds. */
export function spanTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1_000_000)];
}
