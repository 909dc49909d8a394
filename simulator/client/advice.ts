import { isIP } from 'node:net';
import { isLoopbackHost } from '../../services/domain/text/loopback.ts';
import { CommandFailure } from '../exit.ts';
import { meantHttpsUrl } from '../line/meant-url.ts';
import { EGRESS_ALLOW } from '../settings.ts';
import type { ApiRefusal } from './api-refusal.ts';
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

/** The rules that HOOKRAIL_EGRESS_ALLOW lifts for a host. */
const LIFTED = ['address_literal', 'single_label', 'reserved_name', 'port'];

/** Says what is wrong with an endpoint's URL that the API refused; other refusals are returned as they are. */
export function urlAdvice(refusal: ApiRefusal, url: string): CommandFailure {
  const { code, errors, detail = '' } = refusal.problem;
  const meant = meantHttpsUrl(url);
  const refused = (says: string, next: readonly string[]) =>
    new CommandFailure(refusal.exitCode, says, next, meant === undefined ? undefined : { typed: url, meant });
  if (code === 'url_scheme_not_https') return refused(...schemeAdvice(url, meant));
  if (code !== 'url_not_allowed') return refusal;
  const [error] = errors ?? [];
  const says = `the URL is not allowed: ${error?.detail ?? detail}`;
  const isLifted = LIFTED.includes(error?.code ?? '') && URL.canParse(url);
  const next = isLifted ? [allowing(new URL(url).hostname)] : [];
  return meant || isLifted ? refused(says, next) : refused(says, ['hookrail sim endpoints create --help']);
}

/** Returns what is wrong with a URL that is not https, and what helps beside the line with https. */
function schemeAdvice(url: string, meant: string | undefined): [string, readonly string[]] {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url) ?? [];
  const shown = url.replace(/\/\/[^/?#]*@/, '//');
  const why =
    scheme === undefined || /^https$/i.test(scheme) ? 'does not begin with https://' : `is ${scheme}`;
  const says = `webhooks go to https URLs only; ${shown} ${why}`;
  if (meant === undefined) return [says, ['hookrail sim endpoints create --help']];
  const { hostname } = new URL(meant);
  if (!isLoopbackHost(hostname)) return [says, []];
  return [
    says,
    [
      ...forwarding(new URL(meant), 'http:', 'an app that speaks HTTP needs no certificate'),
      `another can have one: ${certFor(hostname)}`,
    ],
  ];
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
