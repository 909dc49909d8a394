import type { FailureCode } from '../attempt.ts';
import type { FailureSign } from './failure-sign.ts';

/** The meaning of each `failure_code`, for merchants. The attempt's `failure_detail` says more. */
export const CODE_SIGNS: Readonly<Record<FailureCode, FailureSign>> = {
  dns_error: {
    says: 'The name of the URL has no address, or its name servers failed.',
    remedy: "Check the URL, the name's A and AAAA records and its name servers.",
  },
  blocked_address: {
    says: 'The name leads to an address that is not public.',
    remedy: 'Let the name lead to public addresses only.',
  },
  connect_timeout: {
    says: 'No address of the name accepted a connection in time.',
    remedy: 'Look for a firewall, an address that is no longer yours, or a server without free connections.',
  },
  connect_refused: {
    says: 'Every address of the name refused the connection.',
    remedy: 'Start the server, or register the port that it listens at.',
  },
  tls_error: {
    says: 'The TLS handshake failed, mostly because of the certificate.',
    remedy: 'Do what the detail says; the table below has every cause.',
  },
  response_timeout: {
    says: 'The status of the response did not arrive in time.',
    remedy: 'Answer with 2xx as soon as the webhook is stored, and process it afterwards.',
  },
  connection_reset: {
    says: 'The connection closed before the status of the response.',
    remedy: 'Look for a crash of the app, or a limit of the proxy in front of it.',
  },
  protocol_error: {
    says: 'The response is not HTTP/1.1.',
    remedy: 'Do what the detail says; the table below has every cause.',
  },
  headers_too_large: {
    says: 'The headers of the response are too large or too many.',
    remedy: 'Set fewer cookies and headers on this path.',
  },
  http_1xx: {
    says: 'Interim responses came, and no final one.',
    remedy: 'Answer with a final status; do not switch protocols.',
  },
  http_3xx: {
    says: 'The response is a redirect, which webhooks do not follow.',
    remedy: 'Register the URL that it names.',
  },
  http_4xx: {
    says: 'The receiver refused the webhook.',
    remedy: 'Look into the log of the app: after 401 or 403 compare the secret, after 404 the path.',
  },
  http_5xx: {
    says: 'The receiver, or a gateway in front of it, failed.',
    remedy: 'Look into the log of the app.',
  },
  endpoint_gone: {
    says: 'The receiver answered 410: it wants no more webhooks. The endpoint is disabled.',
    remedy: 'Enable the endpoint if that was not meant.',
  },
};
