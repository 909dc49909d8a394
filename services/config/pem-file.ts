import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../messages/error-message.ts';
import { ConfigError } from './variables.ts';

/** Throws unless the text is a certificate. */
export const certificate = (pem: string) => new X509Certificate(pem);

/**
 * Reads the PEM file that a variable names; null when it names none. Throws ConfigError, naming the variable, when the
 * file cannot be read, is not PEM, or fails the check.
 */
export function readPem(name: string, path: string, check: (pem: string) => object): string | null {
  if (path === '') return null;
  try {
    const pem = readFileSync(path, 'utf8');
    if (!pem.includes('-----BEGIN ')) throw new Error('it is not a PEM file');
    check(pem);
    return pem;
  } catch (error) {
    throw new ConfigError(`${name}="${path}" cannot be used: ${messageOf(error)}`);
  }
}
