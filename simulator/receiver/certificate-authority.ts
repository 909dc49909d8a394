import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { messageOf } from '../../services/messages/error-message.ts';
import { CommandFailure, EXIT } from '../exit.ts';

/**
 * The sandbox's own certificate authority. Receivers on a developer's machine need a certificate that the
 * sender can verify, because verification is never switched off, not even in a sandbox.
 */
export interface Authority {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Certificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface CertificateOptions {
  /** DNS names and IP addresses: all become subject alternative names, the first is the common name. */
  readonly hosts: readonly string[];
  /** Default: an hour ago, so that a clock a little behind accepts it. */
  readonly notBefore?: Date;
  /** Default: 397 days ahead, the longest that every TLS client accepts. */
  readonly notAfter?: Date;
}

/** An unusable authority or host: one clear line at the command line. */
export class CertificateError extends CommandFailure {
  constructor(message: string) {
    super(EXIT.usage, message);
  }
}

const DAY_MS = 24 * 3600 * 1000;
const AUTHORITY_DAYS = 3650;
const CERTIFICATE_DAYS = 397;
const HOSTS_MAX = 100;

/** Elliptic keys: a handshake with P-256 costs the receiver a fraction of one with RSA. */
const KEY = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** Makes a new authority: a self-signed certificate that may sign servers' certificates and nothing below them. */
export async function createAuthority(): Promise<Authority> {
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'hookrail sandbox authority' }], {
    ...KEY,
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + AUTHORITY_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { certPem: made.cert, keyPem: made.private };
}

/**
 * Issues a server certificate. Dates in the past or future are allowed: tests need expired ones.
 * Throws CertificateError for no host, too many, or one that cannot be part of a certificate.
 */
export async function issueCertificate(
  authority: Authority,
  options: CertificateOptions,
): Promise<Certificate> {
  const [first] = options.hosts;
  if (first === undefined)
    throw new CertificateError('a certificate needs at least one host name or IP address');
  if (options.hosts.length > HOSTS_MAX) {
    throw new CertificateError(
      `a certificate can have at most ${HOSTS_MAX} hosts, not ${options.hosts.length}`,
    );
  }
  const altNames = options.hosts.map(altName);
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: first }], {
    ...KEY,
    notBeforeDate: options.notBefore ?? new Date(Date.now() - 3600 * 1000),
    notAfterDate: options.notAfter ?? new Date(Date.now() + CERTIFICATE_DAYS * DAY_MS),
    ca: { key: authority.keyPem, cert: authority.certPem },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  });
  return { certPem: made.cert, keyPem: made.private };
}

/**
 * Opens the authority of a directory: `ca.crt` and `ca.key` (readable by the owner only), made on first use and kept,
 * so that clients that trust it need no change. Throws CertificateError when the pair is broken: silently making a new
 * one would break every receiver with a certificate of the old one.
 */
export async function openAuthority(dir: string): Promise<Authority> {
  const certPath = join(dir, 'ca.crt');
  const keyPath = join(dir, 'ca.key');
  if (existsSync(certPath)) return readAuthority(certPath, keyPath);
  mkdirSync(dir, { recursive: true });
  const authority = await createAuthority();
  // The certificate is written last and as a whole: its presence means that the pair is complete.
  replaceFile(keyPath, authority.keyPem, 0o600);
  replaceFile(certPath, authority.certPem, 0o644);
  return authority;
}

function readAuthority(certPath: string, keyPath: string): Authority {
  const remedy = `remove ${certPath} and ${keyPath} to make a new authority, then issue certificates again`;
  try {
    const authority = { certPem: readFileSync(certPath, 'utf8'), keyPem: readFileSync(keyPath, 'utf8') };
    const certificate = new X509Certificate(authority.certPem);
    if (!certificate.checkPrivateKey(createPrivateKey(authority.keyPem))) {
      throw new CertificateError(`key ${keyPath} does not belong to certificate ${certPath}`);
    }
    if (Date.parse(certificate.validTo) < Date.now()) {
      throw new CertificateError(`certificate ${certPath} expired on ${certificate.validTo}`);
    }
    return authority;
  } catch (error) {
    const what = messageOf(error);
    throw new CertificateError(`the sandbox's certificate authority cannot be used: ${what}; ${remedy}`);
  }
}

/** Replaces a file so that a reader sees the old or the new one, never half of it. */
function replaceFile(path: string, text: string, mode: number): void {
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, text, { mode });
  renameSync(part, path);
}

/** A label of a host name; DNS also has underscores. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

function altName(host: string): { type: 2; value: string } | { type: 7; ip: string } {
  if (isIP(host) !== 0) return { type: 7, ip: host };
  const labels = host.replace(/^\*\./, '').split('.');
  if (host.length > 253 || !labels.every((label) => LABEL.test(label))) {
    throw new CertificateError(`"${host}" is neither a host name nor an IP address`);
  }
  return { type: 2, value: host.toLowerCase() };
}
