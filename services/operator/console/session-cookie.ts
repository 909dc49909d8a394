import type { IncomingMessage } from 'node:http';
import { hostOf } from '../../api/sandbox/direct-request.ts';
import { isLoopbackHost } from '../../domain/text/loopback.ts';

const SECURE_COOKIE = '__Secure-hookrail_operator';

type Request = Pick<IncomingMessage, 'headers'>;

/**
 * Returns the Set-Cookie header with the token of an operator's session. Under a name of this machine the connection is a
 * tunnel or the machine itself; under any other one the browser sends the cookie over TLS only.
 */
export function operatorCookie(request: Request, token: string, maxAgeSeconds: number): string {
  const name = nameFor(request);
  const secure = name === SECURE_COOKIE ? '; Secure' : '';
  return `${name}=${token}; Path=/console; HttpOnly${secure}; SameSite=Strict; Max-Age=${maxAgeSeconds}`;
}

/** Returns the token in the request's cookie; undefined when it has none. */
export function operatorTokenIn(request: Request): string | undefined {
  const name = nameFor(request);
  const cookies = (request.headers.cookie ?? '').split(/; */);
  return cookies.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Browsers send a cookie to every port of a host: two services on one machine must not replace each other's. */
function nameFor({ headers }: Request): string {
  const { hostname, port } = hostOf(headers.host) ?? { hostname: '', port: '' };
  return isLoopbackHost(hostname) ? `hookrail_operator_${port || '80'}` : SECURE_COOKIE;
}
