import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../domain/text/loopback.ts';
import { hostOf } from '../sandbox/direct-request.ts';

const HOST_COOKIE = '__Host-hookrail_console';

type Request = Pick<IncomingMessage, 'headers'>;

/**
 * Returns the Set-Cookie header with a session's token. Outside of this machine the browser sends it over TLS only, and
 * takes it from no other host (`__Host-`, RFC 6265bis §4.1.3.2). `isFramed`: the console may be embedded by other sites;
 * its cookie is then kept apart for each of them (CHIPS).
 */
export function sessionCookie(
  request: Request,
  token: string,
  { maxAgeSeconds, isFramed }: { readonly maxAgeSeconds: number; readonly isFramed: boolean },
): string {
  const { name, isSecure } = cookieOf(request);
  const site = isFramed ? '; SameSite=None; Partitioned' : '; SameSite=Lax';
  const secure = isSecure || isFramed ? '; Secure' : '';
  return `${name}=${token}; Path=/; HttpOnly${secure}${site}; Max-Age=${maxAgeSeconds}`;
}

/**
 * Returns the token in the request's cookie; undefined when it has none. On this machine, the cookie of other hosts is as
 * good: a browser takes it over TLS only, so whoever sends it here is a program.
 */
export function sessionTokenIn(request: Request): string | undefined {
  const cookies = (request.headers.cookie ?? '').split(/; */);
  for (const name of [cookieOf(request).name, HOST_COOKIE]) {
    const found = cookies.find((each) => each.startsWith(`${name}=`));
    if (found !== undefined) return found.slice(name.length + 1);
  }
  return undefined;
}

/** Browsers send a cookie to every port of a host: two sandboxes on one machine must not replace each other's. */
function cookieOf({ headers }: Request): { readonly name: string; readonly isSecure: boolean } {
  const { hostname, port } = hostOf(headers.host) ?? { hostname: '', port: '' };
  if (isLoopbackHost(hostname)) return { name: `hookrail_console_${port || '80'}`, isSecure: false };
  return { name: HOST_COOKIE, isSecure: true };
}
