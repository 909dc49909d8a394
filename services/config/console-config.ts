import { BRAND_VARIABLES, type BrandValues, brandConfig } from './console-brand.ts';
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
  ...BRAND_VARIABLES,
} as const;

/** Encrypted, or on this machine. */
const SAFE = /^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$))/;
const HERE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

interface ConsoleValues extends BrandValues {
  readonly HOOKRAIL_CONSOLE_URL: string;
  readonly HOOKRAIL_CONSOLE_FRAME_ANCESTORS: readonly string[];
}

export function consoleConfig(values: ConsoleValues) {
  return {
    consoleUrl: values.HOOKRAIL_CONSOLE_URL,
    consoleFrameAncestors: values.HOOKRAIL_CONSOLE_FRAME_ANCESTORS,
    consoleBrand: brandConfig(values),
  };
}

/**
 * Returns the address of the console in links that an operator makes; null where nobody can know by which name browsers
 * reach the API.
 */
export function consoleUrlOf({
  api: { consoleUrl: given, host, port },
}: {
  readonly api: { readonly consoleUrl: string; readonly host: string; readonly port: number };
}): string | null {
  if (given !== '') return given;
  const name = host.includes(':') ? `[${host}]` : host;
  return HERE.has(host) && port !== 0 ? `http://${name}:${port}/console` : null;
}

function consoleUrl(text: string): string {
  const url = safeUrl(text);
  const isAddress = url !== undefined && url.search === '' && url.hash === '' && url.username === '';
  if (text === '' || isAddress) return text;
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

function safeUrl(text: string): URL | undefined {
  return SAFE.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}
