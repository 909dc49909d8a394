import { isLoopbackHost } from '../../services/domain/text/loopback.ts';
import { usage } from '../exit.ts';

/** Where webhooks are forwarded to. */
export interface ForwardTarget {
  /** The whole address, in its normal form: an endpoint is kept for each. */
  readonly url: URL;
  /** Host and port, as they are shown. */
  readonly host: string;
  /** It runs on this machine: nobody is in between, so the certificate of an app with https is not checked. */
  readonly isLocal: boolean;
}

const EXAMPLE = 'hookrail sim listen --forward-to http://localhost:3000/hook';

/**
 * Parses the address of the developer's app: a URL, or in short `localhost:3000/hook`, `:3000`, `3000/hook`. `path`
 * replaces a path that the address does not have. Throws a usage failure that says what is wrong with it.
 */
export function parseForwardTarget(text: string, path?: string): ForwardTarget {
  const given = text.trim();
  const whole = /^:?\d+(\/|\?|$)/.test(given) ? `localhost:${given.replace(/^:/, '')}` : given;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(whole) ? whole : `http://${whole}`;
  if (given === '' || !URL.canParse(address)) {
    throw usage(`--forward-to "${text}" is not an address`, EXAMPLE);
  }
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw usage(`--forward-to takes http or https, not ${url.protocol.replace(':', '')}`, EXAMPLE);
  }
  if (url.username !== '' || url.password !== '') {
    throw usage('--forward-to has a user name or a password; webhooks are forwarded without', EXAMPLE);
  }
  url.hash = '';
  if (path !== undefined) {
    if (url.pathname !== '/' || url.search !== '') {
      throw usage(`--path and the path of --forward-to (${url.pathname}${url.search}) cannot be combined`);
    }
    return targetOf(new URL(path.startsWith('/') ? path : `/${path}`, url));
  }
  return targetOf(url);
}

function targetOf(url: URL): ForwardTarget {
  const { hostname, host, port } = url;
  const isLocal = isLoopbackHost(hostname);
  const shown = port === '' ? `${host}:${url.protocol === 'https:' ? 443 : 80}` : host;
  return { url, host: shown, isLocal };
}
