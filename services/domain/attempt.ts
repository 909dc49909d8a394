/** Why an attempt failed (docs/decisions.md, "Delivery log and recovery"). Every failed attempt has exactly one. */
export const FAILURE_CODES = [
  'dns_error',
  'blocked_address',
  'connect_timeout',
  'connect_refused',
  'tls_error',
  'response_timeout',
  'connection_reset',
  'protocol_error',
  'headers_too_large',
  'http_1xx',
  'http_3xx',
  'http_4xx',
  'http_5xx',
  'endpoint_gone',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Bytes of a response body that the delivery log keeps. */
export const RESPONSE_BODY_KEPT_BYTES = 16 * 1024;

/** The part of an HTTP response that is kept. */
export interface ResponseKept {
  readonly status: number;
  /** Names in lower case, in the order received; at most 8 KiB in all. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first 16 KiB. */
  readonly body: Uint8Array;
  readonly bodyTruncated: boolean;
}

/** The result of one HTTP exchange: acknowledged by a 2xx, or failed with a code. Either may have a response. */
export type Exchange =
  | {
      readonly kind: 'acknowledged';
      readonly response: ResponseKept;
      /** Why the response was not read whole; null = it was. */
      readonly fault: string | null;
    }
  | {
      readonly kind: 'failed';
      readonly failureCode: FailureCode;
      /** A description of what happened, without secrets. */
      readonly detail: string;
      readonly response: ResponseKept | null;
    }
  /** Cut off by hookrail's own shutdown: not counted. */
  | { readonly kind: 'interrupted' };
