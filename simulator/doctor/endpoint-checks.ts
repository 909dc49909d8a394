import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { connect, rootCertificates } from 'node:tls';
import { visible } from '../../services/domain/text/visible-text.ts';
import { attemptAdvice } from '../client/advice.ts';
import type { EndpointAnswer, MerchantApi } from '../client/merchant-api.ts';
import type { Session } from '../session.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { failed } from './service-checks.ts';

const ANSWER_MS_MAX = 3000;
/** A receiver must respond within ten. */
const TEST_SECONDS = 15;
const DAY_MS = 86_400_000;
const EXPIRES_SOON_DAYS = 14;

/** Returns the authorities that the sandbox's sender trusts. */
export function trustedBy({ settings }: Session): readonly string[] {
  const bundle = join(settings.dataDir, 'trusted-ca.pem');
  const files = [bundle, settings.find('extraCaFile')?.value ?? join(settings.dataDir, 'ca.crt')];
  const file = files.find((path) => existsSync(path));
  return file === undefined ? rootCertificates : [...rootCertificates, readFileSync(file, 'utf8')];
}

/** Checks an endpoint: its status, its certificate, and whether its receiver accepted the secret. */
export async function checkEndpoint(endpoint: EndpointAnswer, trusted: readonly string[]): Promise<Finding> {
  const { uuid, url, status, disabled_reason: reason } = endpoint;
  const check = `endpoint ${visible(endpoint.description || url)}`;
  if (status !== 'active') {
    const why = reason === null ? status : `${status} (${reason})`;
    return warn(check, `${visible(url)} is ${why}: it gets nothing`, `hookrail sim endpoints enable ${uuid}`);
  }
  const tls = await probe(new URL(url), trusted);
  if (tls.problem !== null) return unreachable(check, endpoint, tls.problem);
  const refused = refusedSecret(endpoint);
  if (refused) return fail(check, refused.says, ...refused.next);
  const daysLeft = Math.floor((tls.validUntil - Date.now()) / DAY_MS);
  if (daysLeft < EXPIRES_SOON_DAYS) {
    const { hostname } = new URL(url);
    return warn(check, `its certificate ends in ${daysLeft} days`, `hookrail sim cert --host ${hostname}`);
  }
  const secret = endpoint.last_success_at === null ? 'nothing was delivered yet' : 'its secret was accepted';
  const certificate = `certificate trusted until ${new Date(tls.validUntil).toISOString().slice(0, 10)}`;
  return ok(check, `${visible(url)}: ${certificate}, ${secret}`);
}

/** Checks an endpoint, and sends it a test webhook: so its secret is checked too. */
export async function testEndpoint(
  api: MerchantApi,
  endpoint: EndpointAnswer,
  trusted: readonly string[],
): Promise<Finding> {
  const found = await checkEndpoint({ ...endpoint, last_failure: null }, trusted);
  if (found.state === 'fail' || endpoint.status !== 'active') return found;
  const test =
    endpoint.kind === 'operational'
      ? ({ type: 'endpoint.failing', subType: 'AT_50' } as const)
      : ({ type: 'KYC', subType: 'FULL_USER', user_uuid: randomUUID() } as const);
  try {
    const {
      status,
      response_status,
      failure_code = null,
    } = await api.testEndpoint(endpoint.uuid, test, TEST_SECONDS);
    if (status === 'delivered') return { ...found, says: `${found.says}; a test webhook was accepted` };
    const failed = { failure_code, failure_detail: null, response_status: response_status ?? null };
    const { says, next } = attemptAdvice(failed, endpoint) ?? {
      says: `a test webhook was not delivered: ${response_status ?? failure_code ?? status}`,
      next: [`hookrail sim endpoints test ${endpoint.uuid}`],
    };
    return fail(found.check, says, ...next);
  } catch (error) {
    return failed(found.check, error);
  }
}

function unreachable(check: string, endpoint: EndpointAnswer, problem: string): Finding {
  const { uuid, url } = endpoint;
  const code = problem === 'ECONNREFUSED' ? 'connect_refused' : 'tls_error';
  const detail = NOT_TLS.test(problem) ? 'another protocol' : problem;
  const advice = attemptAdvice(
    { failure_code: code, failure_detail: detail, response_status: null },
    { ...endpoint, uuid, url },
  );
  return advice
    ? fail(check, advice.says, ...advice.next)
    : fail(check, `${visible(url)} cannot be reached (${problem})`, `hookrail sim endpoints get ${uuid}`);
}

/** The last webhook was refused as one of a stranger, and none was accepted since. */
function refusedSecret(endpoint: EndpointAnswer) {
  const { last_failure: failure, last_failure_at: at, last_success_at: success } = endpoint;
  if (failure === null || (success !== null && at !== null && success > at)) return undefined;
  const { code, response_status } = failure;
  return attemptAdvice({ failure_code: code, failure_detail: null, response_status }, endpoint);
}

/** OpenSSL's reasons for an answer that is not TLS. */
const NOT_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/;

type Probed = { readonly problem: string } | { readonly problem: null; readonly validUntil: number };

/** Opens a TLS connection as the sender does, sends nothing, and reads the certificate. */
function probe(url: URL, trusted: readonly string[]): Promise<Probed> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      ca: [...trusted],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      timeout: ANSWER_MS_MAX,
    });
    const done = (found: Probed) => {
      socket.destroy();
      resolve(found);
    };
    socket.once('secureConnect', () => {
      done({ problem: null, validUntil: Date.parse(socket.getPeerCertificate().valid_to) });
    });
    socket.once('timeout', () => done({ problem: 'no answer in time' }));
    socket.once('error', (error: NodeJS.ErrnoException) => done({ problem: error.code ?? error.message }));
  });
}
