import { isIPv4, isIPv6 } from 'node:net';

/** A Host header: an IPv6 address in brackets or a name, then a port. */
const HOST = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{0,5})?$/;
/** A name without a dot. No public DNS has one, so no site can have it. */
const SHORT = /^[a-z0-9_-]+$/;

/**
 * The names that a server answers to. A web page that a browser has open could otherwise read it: the page's owner lets
 * his name lead to this machine, and the browser takes the server for his (DNS rebinding). An address as Host is safe,
 * since no DNS was asked for it.
 */
export class HostNames {
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names].map((name) => name.toLowerCase()));
  }

  /**
   * Returns whether a Host header has one of the names, or an address. `allowsShort`: a name without a dot is enough. No
   * Host at all comes from no browser.
   */
  has(header: string | undefined, { allowsShort }: { readonly allowsShort: boolean }): boolean {
    if (header === undefined || header === '') return true;
    const [, ipv6, host = ''] = HOST.exec(header.toLowerCase()) ?? [];
    if (ipv6 !== undefined) return isIPv6(ipv6);
    return isIPv4(host) || this.#names.has(host) || (allowsShort && SHORT.test(host));
  }
}

const SHOWN_MAX = 100;

/** Returns a Host header for a message. */
export function shownHost(header: string | undefined): string {
  return (header ?? '').slice(0, SHOWN_MAX);
}
