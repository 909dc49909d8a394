import { visible } from '../text/visible-text.ts';
import { CERTIFICATE_SIGNS } from './certificate-signs.ts';
import type { FailureSign, FailureSigns } from './failure-sign.ts';
import { HTTP_SIGNS } from './http-signs.ts';
import { NETWORK_SIGNS } from './network-signs.ts';
import { TLS_SIGNS } from './tls-signs.ts';

/** A text of a library that explains nothing is cut here, characters. */
const LIBRARY_MAX = 200;
/** Every sign of a failed attempt by its code: OpenSSL's without versions, llhttp's reasons, the system's and the resolver's. */
export const SIGNS: FailureSigns = { ...NETWORK_SIGNS, ...TLS_SIGNS, ...CERTIFICATE_SIGNS, ...HTTP_SIGNS };

/**
 * Describes a failure of the network, TLS or HTTP: the code, its cause and what helps. A code that is not explained has
 * the text of the library, on one line, without characters that hide or forge.
 */
export function describedFailure(code: string, otherwise: string): string {
  const sign = signOf(code);
  if (sign) return `${code}: ${sign.says}; ${sign.remedy}`;
  return [code, shortened(otherwise)].filter(Boolean).join(': ');
}

/** Returns the cause and, where it has one, the remedy of what `describedFailure` returns. */
export function partsOfDescribed(described: string): {
  readonly says: string;
  readonly remedy: string | null;
} {
  const [says = '', ...remedy] = described.split('; ');
  return { says, remedy: remedy.length === 0 ? null : remedy.join('; ') };
}

/** Describes what undici says of a response that it cannot read: by its code, or by the parser's reason. */
export function describedResponse({ code = '', message }: Error & { readonly code?: string }): string {
  const [, reason = ''] = /^Response does not match the HTTP\/1\.1 protocol \((.*)\)$/.exec(message) ?? [];
  if (signOf(code)) return describedFailure(code, message);
  return reason === '' ? shortened(message) : describedFailure(reason, message);
}

function signOf(code: string): FailureSign | undefined {
  // OpenSSL's codes of alerts have a version in their names, which differs between releases.
  const alert = code.replace(/^ERR_SSL_(?:(?:SSLV3|SSL\/TLS|TLSV13|TLSV1)_)?/, '');
  const name = Object.hasOwn(SIGNS, code) ? code : alert;
  return Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined;
}

function shortened(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim()).slice(0, LIBRARY_MAX);
}
