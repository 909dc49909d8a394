import type { Exchange, FailureCode, ResponseKept } from '../../domain/attempt.ts';
import { describedResponse } from '../../domain/failures/failure-signs.ts';
import { visible } from '../../domain/text/visible-text.ts';
import { type ConnectFailureFacts, tlsReason } from './connect-failure.ts';

/** Characters of a Location that the detail has. */
const LOCATION_MAX = 300;

/** Returns the failure code of a final status, or null for an acknowledgement (any 2xx). */
export function failureCodeOf(status: number): FailureCode | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return 'http_3xx';
  if (status === 410) return 'endpoint_gone';
  if (status >= 400 && status < 500) return 'http_4xx';
  if (status >= 500 && status < 600) return 'http_5xx';
  return 'protocol_error';
}

/** Returns the verdict on a response. `fault`: why it was not read whole; null = it was. */
export function decidedBy(response: ResponseKept, fault: string | null): Exchange {
  const failureCode = failureCodeOf(response.status);
  const [, location] = response.headers.find(([name]) => name === 'location') ?? [];
  const redirect = failureCode === 'http_3xx' ? redirectOf(location) : null;
  const detail = [`HTTP ${response.status}`, redirect?.says, fault].filter(Boolean).join('; ');
  if (failureCode !== null) return { kind: 'failed', failureCode, detail, response };
  return { kind: 'acknowledged', response, fault: fault === null ? null : detail };
}

/** Says where a redirect leads, without what may be private in it; null where it does not say. */
export function redirectOf(
  location: string | undefined,
): { readonly to: string; readonly says: string } | null {
  if (location === undefined) return null;
  const to = visible(location.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')).slice(0, LOCATION_MAX);
  return { to, says: `webhooks follow no redirect, register the URL that it leads to: ${to}` };
}

/** Classifies the error that broke a connection after TLS was established and before a final status. */
export function brokenExchange(
  error: Error & { code?: string },
  isInterim: boolean,
): { failureCode: FailureCode; detail: string } {
  const code = error.code ?? '';
  // undici's code, and that of Node's own client.
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') {
    return { failureCode: 'headers_too_large', detail: 'the response headers are too large' };
  }
  // undici's errors for a 101, with and without the header Upgrade: it reads a 100 as we have it.
  const isAsserted = code === 'ERR_ASSERTION';
  if (error.message === 'bad upgrade' || (isAsserted && error.message.includes('upgrade'))) {
    return { failureCode: 'http_1xx', detail: 'the response is a 101: nobody asked for another protocol' };
  }
  if (isAsserted)
    return { failureCode: 'protocol_error', detail: 'the status of the response is not one of HTTP' };
  if (code.startsWith('ERR_SSL'))
    return { failureCode: 'tls_error', detail: `TLS failed: ${tlsReason(error)}` };
  if (!isBroken(error)) return { failureCode: 'protocol_error', detail: describedResponse(error) };
  if (isInterim) return { failureCode: 'http_1xx', detail: 'the connection closed after interim responses' };
  return { failureCode: 'connection_reset', detail: 'the connection closed before a complete response' };
}

/** Errors of a connection that closed under a request: undici's code for a close, and the network's. */
const BROKEN: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** Returns whether the connection was closed or reset, rather than its data refused. */
export function isBroken({ code }: Error & { code?: string }): boolean {
  return code !== undefined && BROKEN.has(code);
}

/** It waited for a connection until it was too late: all connections to its origin were in use. */
export const NEVER_SENT: Exchange = {
  kind: 'failed',
  failureCode: 'connect_timeout',
  detail: 'no connection to the origin became free in time',
  response: null,
};
export const ORIGIN_BUSY: ConnectFailureFacts = { ownFault: 'origin_connections', sign: 'unknown' };
