import { isLoopbackHost } from '../../services/domain/text/loopback.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/+/i;

/** Returns the https URL that a text means as an endpoint's: "localhost:3000", "ftp://…", one with a password. */
export function meantHttpsUrl(text: string): string | undefined {
  const rest = withHost(text.trim())
    .replace(SCHEME, '')
    .replace(/^[^/?#]*@/, '')
    .replace(/#.*$/s, '');
  return changed(text, `https://${rest}`);
}

/** Returns the address that a text means as that of an API, which speaks http on this machine. */
export function meantAddress(text: string): string | undefined {
  const rest = withHost(text.trim()).replace(SCHEME, '');
  const [host = ''] = rest.split(/[:/?#]/);
  return changed(text, `${isLoopbackHost(host.toLowerCase()) ? 'http' : 'https'}://${rest}`);
}

/** A port alone is one of this machine. */
function withHost(text: string): string {
  return /^:?\d{2,5}(?:[/?]|$)/.test(text) ? `localhost:${text.replace(/^:/, '')}` : text;
}

function changed(text: string, meant: string): string | undefined {
  const [, host = ''] = /^https?:\/\/([^/?#:]*)/.exec(meant) ?? [];
  return host !== '' && meant !== text && !/\s/.test(meant) && URL.canParse(meant) ? meant : undefined;
}
