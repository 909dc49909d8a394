import { ConfigError } from '../config/variables.ts';

/** A proxy that connects for the senders (CONNECT), so that their requests come from its addresses. */
export interface EgressProxy {
  readonly host: string;
  readonly port: number;
  /** The Proxy-Authorization header, or null. */
  readonly authorization: string | null;
}

const PORT_DEFAULT = 80;

/**
 * Parses `http://[user:password@]host[:port]`; empty = none. Throws ConfigError without repeating the value, which may
 * hold a password.
 */
export function parseEgressProxy(text: string): EgressProxy | null {
  if (text === '') return null;
  const wrong = (what: string) => new ConfigError(`HOOKRAIL_EGRESS_PROXY ${what}`);
  if (!URL.canParse(text)) throw wrong('is not a URL: give http://[user:password@]host[:port]');
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'http:') {
    throw wrong(`must be an http:// URL, not ${protocol}// (what goes through it is TLS to the receiver)`);
  }
  if (pathname !== '/' || search !== '' || hash !== '') throw wrong('must end after its host and port');
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORT_DEFAULT : Number(port),
    authorization: username === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}
