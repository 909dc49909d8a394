import { visible } from '../text/visible-text.ts';
import { CERTIFICATE_SIGNS } from './certificate-signs.ts';
import type { FailureSigns } from './failure-sign.ts';
import { TLS_SIGNS } from './tls-signs.ts';

/** A text of a library that explains nothing is cut here, characters. */
const LIBRARY_MAX = 200;
const SIGNS: FailureSigns = { ...TLS_SIGNS, ...CERTIFICATE_SIGNS };

/**
 * Describes a failure of TLS: the code, its cause and what helps. A code that is not explained has the text of the
 * library, on one line, without characters that hide or forge.
 */
export function describedFailure(code: string, otherwise: string): string {
  // OpenSSL's codes of alerts have a version in their names, which differs between releases.
  const alert = code.replace(/^ERR_SSL_(?:(?:SSLV3|SSL\/TLS|TLSV13|TLSV1)_)?/, '');
  const name = Object.hasOwn(SIGNS, code) ? code : alert;
  const sign = Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined;
  if (sign) return `${code}: ${sign.says}; ${sign.remedy}`;
  return `${code}: ${visible(otherwise.replace(/\s+/g, ' ').trim()).slice(0, LIBRARY_MAX)}`;
}
