import type { Answer, TestApi } from './test-api.ts';

/** Where a link of the console is spent, and its session read and ended. */
export const SESSION = '/console/session';

/** What a browser has after its sign-in, and what names the session to the platform. */
export interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
  readonly sessionId: string;
}

/** The path of a merchant's links and sessions. */
export const sessionsOf = (merchantId: string) => `/platform/merchants/${merchantId}/portal-sessions`;

/** Signs in to the console of an API as the platform and a browser do, of its first merchant by default. */
export function consoleVisits(api: Pick<TestApi, 'call' | 'keys' | 'merchantId'>) {
  const link = async (json: object = {}, merchantId = api.merchantId) => {
    const { status, text, body } = await api.call('POST', sessionsOf(merchantId), {
      key: api.keys.platform,
      json,
    });
    if (status !== 201) throw new Error(`no link: ${status} ${text}`);
    return { ...body, token: String(body.url.split('#link=')[1]) };
  };
  const open = (token: string, headers: Record<string, string> = {}) =>
    api.call('POST', SESSION, { key: null, json: { link: token }, headers });
  const signIn = async (json: object = {}, merchantId = api.merchantId): Promise<SignedIn> => {
    const made = await link(json, merchantId);
    const { status, text, headers, body } = await open(made.token);
    if (status !== 201) throw new Error(`not signed in: ${status} ${text}`);
    return { cookie: cookieOf(headers), csrf: body.csrf_token, sessionId: made.portal_session_uuid };
  };
  return { link, open, signIn };
}

/** The cookie that a response sets, by the name that every address takes: two apis have ports, and so cookies, of their own. */
export function cookieOf(headers: Headers): string {
  const token = /=([\w-]{43});/.exec(String(headers.get('set-cookie')))?.[1];
  return `__Host-hookrail_console=${token}`;
}

/** A request of a page of the console: with its cookie, its token, and no key. */
export function as({ cookie, csrf }: SignedIn, json?: unknown) {
  return {
    key: null,
    headers: { cookie, 'hookrail-csrf': csrf },
    ...(json === undefined ? {} : { json }),
  };
}

/** Returns the status and the error code of a response. */
export async function codeOf(answer: Promise<Answer>): Promise<readonly [number, string | undefined]> {
  const { status, body } = await answer;
  return [status, body?.code];
}
