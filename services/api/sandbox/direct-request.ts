import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../domain/text/loopback.ts';

/**
 * Headers that a browser or curl sends by itself. A proxy or a tunnel adds others, and there are too many to list:
 * Forwarded, X-Forwarded-For, Via, CF-Connecting-IP, Tailscale-User-Login, Ngrok-Trace-Id and so on.
 */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...[
    'accept',
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'cache-control',
    'connection',
    'cookie',
  ],
  ...['dnt', 'host', 'if-modified-since', 'if-none-match', 'pragma', 'priority', 'purpose', 'referer'],
  ...['save-data', 'te', 'upgrade-insecure-requests', 'user-agent'],
]);

/** Headers of the browser itself, which no page and no proxy sets: Sec-Fetch-Site, Sec-CH-UA, Sec-GPC. */
const OF_BROWSER = /^sec-/;

/**
 * Returns whether a request comes from this machine, under a name of this machine, and with nothing that shows a proxy or
 * a tunnel in between. One that hides itself is not seen: this comes after the visit's cookie, and not in its place.
 */
export function isDirect({
  headers,
  httpVersion,
  socket,
}: Pick<IncomingMessage, 'headers' | 'httpVersion' | 'socket'>): boolean {
  const { hostname } = hostOf(headers.host) ?? {};
  const from = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return (
    hostname !== undefined &&
    isLoopbackHost(hostname) &&
    isLoopbackHost(from) &&
    // Proxies that speak HTTP/1.0 to what is behind them add no header by themselves.
    httpVersion === '1.1' &&
    Object.keys(headers).every((name) => OWN_HEADERS.has(name) || OF_BROWSER.test(name))
  );
}

/** Splits the Host header; null when it is not a plain host with a port or without one. */
export function hostOf(host = ''): { readonly hostname: string; readonly port: string } | null {
  const [, hostname, port = ''] = /^([\w.-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::(\d{1,5}))?$/.exec(host) ?? [];
  return hostname === undefined ? null : { hostname, port };
}
