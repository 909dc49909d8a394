import { type Authority, type Certificate, issueCertificate } from './certificate-authority.ts';

const DAY_MS = 24 * 3600 * 1000;
/** The names by which the service reaches this machine. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];

/**
 * Issues the certificate of a receiver on this machine that listens on `host`; one that ended yesterday, if it is to
 * behave as `tls-expired`.
 */
export function receiverCertificate(
  authority: Authority,
  host: string,
  behaviour = 'ok',
): Promise<Certificate> {
  const hosts = [...new Set([...LOCAL_HOSTS, host])].filter((name) => name !== '0.0.0.0' && name !== '::');
  if (behaviour !== 'tls-expired') return issueCertificate(authority, { hosts });
  const now = Date.now();
  const validity = { notBefore: new Date(now - 30 * DAY_MS), notAfter: new Date(now - DAY_MS) };
  return issueCertificate(authority, { hosts, ...validity });
}
