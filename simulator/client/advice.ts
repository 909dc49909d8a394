import { isIP } from 'node:net';
import { isLoopbackHost } from '../../services/domain/text/loopback.ts';
import { CommandFailure } from '../exit.ts';
import { EGRESS_ALLOW } from '../settings.ts';
import type { ApiRefusal } from './api-client.ts';
import type { AttemptAnswer, EndpointAnswer } from './merchant-api.ts';

/** One line that says what is wrong, and the lines that help; the last is a command, or ends in one. */
export interface Advice {
  readonly says: string;
  readonly next: readonly string[];
}

type Failed = Pick<AttemptAnswer, 'failure_code' | 'failure_detail' | 'response_status'>;
type Endpoint = Pick<EndpointAnswer, 'uuid' | 'url' | 'secret_hint'>;

/** Certificates that no authority of the sandbox has signed. */
const UNTRUSTED =
  /DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT/;

/** Returns the advice for a failed attempt; nothing for failures that the receiver's own log explains. */
export function attemptAdvice(failed: Failed, { uuid, url, secret_hint }: Endpoint): Advice | undefined {
  const { host, hostname } = new URL(url);
  const detail = failed.failure_detail ?? '';
  switch (failed.failure_code) {
    case 'tls_error':
      return tlsAdvice(detail, new URL(url));
    case 'connect_refused':
      return {
        says: `nothing listens at ${host}`,
        next: [`start your receiver, or: hookrail sim endpoints disable ${uuid}`],
      };
    case 'blocked_address':
      return {
        says: `${hostname} has an address that the sandbox does not send to`,
        next: [allowing(hostname)],
      };
    case 'http_4xx': {
      if (failed.response_status !== 401 && failed.response_status !== 403) return undefined;
      return {
        says: `the receiver refused it (${failed.response_status}); its secret should end in ${secret_hint}`,
        next: [`give it that one, or a new one: hookrail sim endpoints rotate ${uuid}`],
      };
    }
    default:
      return undefined;
  }
}

function tlsAdvice(detail: string, url: URL): Advice | undefined {
  const { host, hostname } = url;
  if (/another protocol/.test(detail)) {
    return {
      says: `${host} answers in plain HTTP, not TLS`,
      next: [
        `make a certificate for your server: ${certFor(hostname)}`,
        ...forwarding(url, 'http:', 'or let it speak HTTP'),
      ],
    };
  }
  if (UNTRUSTED.test(detail)) {
    return {
      says: `the sandbox does not trust the certificate of ${host}`,
      next: [
        'trust yours: HOOKRAIL_EXTRA_CA_FILE=<file.pem> hookrail start',
        `or use one that it trusts: ${certFor(hostname)}`,
        ...forwarding(url, 'https:', 'or forward to it'),
      ],
    };
  }
  if (/ALTNAME|EXPIRED/.test(detail)) {
    return {
      says: `the certificate of ${host} has ${/EXPIRED/.test(detail) ? 'expired' : 'another name'}`,
      next: [`make one: ${certFor(hostname)}`],
    };
  }
  return undefined;
}

/** Says what is wrong with an endpoint's URL that the API refused; other refusals are returned as they are. */
export function urlAdvice(refusal: ApiRefusal, url: string, command: string): CommandFailure {
  const { code, errors, detail = '' } = refusal.problem;
  if (code === 'url_scheme_not_https' && /^http:\/\//i.test(url) && URL.canParse(url)) {
    const { hostname } = new URL(url);
    const says = `webhooks go to https URLs only; ${url} is http`;
    const secure = `hookrail sim ${command} ${url.replace(/^http:/i, 'https:')}`;
    if (!isLoopbackHost(hostname)) return new CommandFailure(refusal.exitCode, says, [secure]);
    return new CommandFailure(refusal.exitCode, says, [
      `your server can have a certificate: ${certFor(hostname)}`,
      `and then: ${secure}`,
      ...forwarding(new URL(url), 'http:', 'or, with no certificate and no endpoint to make'),
    ]);
  }
  const [error] = errors ?? [];
  if (code === 'url_not_allowed' && URL.canParse(url)) {
    const says = `the URL is not allowed: ${error?.detail ?? detail}`;
    return new CommandFailure(refusal.exitCode, says, [allowing(new URL(url).hostname)]);
  }
  return refusal;
}

function certFor(hostname: string): string {
  return `hookrail sim cert --host ${bare(hostname)}`;
}

/** Returns the way to let the sandbox send to a host of the local network. */
function allowing(hostname: string): string {
  return `to allow it, restart: HOOKRAIL_EGRESS_ALLOW=${EGRESS_ALLOW},${bare(hostname)} hookrail start`;
}

/** Returns the way to an app that needs no certificate; only for apps on this machine. */
function forwarding(url: URL, protocol: 'http:' | 'https:', why: string): string[] {
  if (!isLoopbackHost(url.hostname)) return [];
  return [`${why}: hookrail sim listen --forward-to ${url.href.replace(/^https?:/, protocol)}`];
}

/** Returns a host without the brackets of an IPv6 address. */
function bare(hostname: string): string {
  const inside = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(inside) === 6 ? inside : hostname;
}
