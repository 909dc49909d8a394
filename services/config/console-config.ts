import { isLoopbackHost } from '../domain/text/loopback.ts';
import { as, Malformed, variable } from './variables.ts';

/** The variables of the console. */
export const CONSOLE_VARIABLES = {
  HOOKRAIL_CONSOLE_URL: variable(
    consoleUrl,
    '',
    'Address of the console in links, such as `https://webhooks.example.com/console`. Empty: the name by which the ' +
      'platform’s backend asks for a link.',
  ),
  HOOKRAIL_CONSOLE_FRAME_ANCESTORS: variable(
    as.list(frameAncestor),
    [],
    'Origins whose pages may embed the console, comma separated: `https://app.example.com`. Empty: none may.',
  ),
} as const;

/**
 * Returns the address of the console in links that an operator makes; null where nobody can know by which name browsers reach
 * the API.
 */
export function consoleUrlOf({
  api: { consoleUrl: given, host, port },
}: {
  readonly api: { readonly consoleUrl: string; readonly host: string; readonly port: number };
}): string | null {
  if (given !== '') return given;
  const name = host.includes(':') ? `[${host}]` : host;
  return isLoopbackHost(host) && port !== 0 ? `http://${name}:${port}/console` : null;
}

function consoleUrl(text: string): string {
  const url = safeUrl(text);
  if (text === '' || (url && url.search === '' && url.hash === '' && url.username === '')) return text;
  throw new Malformed(
    'must be the address of the console, https unless it is on this machine: https://webhooks.example.com/console',
  );
}

function frameAncestor(entry: string): string {
  const url = safeUrl(entry);
  if (url && (entry === url.origin || entry === `${url.origin}/`)) return url.origin;
  throw new Malformed(
    `must be origins, https unless they are on this machine (https://app.example.com); "${entry}" is none`,
  );
}

/** Returns an https URL, or an http one of this machine. */
function safeUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  return isSafe ? url : undefined;
}
