import { existsSync } from 'node:fs';
import { formatDuration } from '../../client/duration.ts';
import type { ServiceClock } from '../../client/service-clock.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import { type EndpointAnswer, MerchantApi } from '../client/merchant-api.ts';
import { OperationsClient } from '../client/operations.ts';
import { CommandFailure } from '../exit.ts';
import type { Session } from '../session.ts';
import type { Sourced } from '../settings.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const ANSWER_MS_MAX = 5000;
const KAFKA = 'Kafka';
/** A receiver accepts a webhook that is up to five minutes old. */
const SKEW_MS_MAX = 60_000;

export function checkDataDir({ settings }: Session): Finding {
  if (existsSync(settings.sandboxFile)) return ok('data', settings.sandboxFile);
  return warn(
    'data',
    `${settings.sandboxFile} does not exist: no sandbox was started there`,
    'hookrail start',
  );
}

export interface ApiFound {
  readonly findings: readonly Finding[];
  readonly api: MerchantApi | null;
  readonly endpoints: readonly EndpointAnswer[];
}

/** Checks that the API answers and accepts the merchant's key. */
export async function checkApi(session: Session): Promise<ApiFound> {
  const { settings } = session;
  try {
    const { value, source } = settings.baseUrl();
    const client = session.impatientApi();
    const api = new MerchantApi(client);
    const endpoints = await api.endpoints();
    const findings = [
      ok('API', `${value} answers (from ${source})`),
      ok('API key', `accepted (from ${settings.find('apiKey')?.source})`),
      checkClock(client.clock),
    ];
    return { findings, api, endpoints };
  } catch (error) {
    return { findings: [failed('API', error)], api: null, endpoints: [] };
  }
}

/** Judges the machine's clocks; that the sandbox's own was moved on is no fault. */
function checkClock({ skewMs, movedMs }: ServiceClock): Finding {
  const moved = `the sandbox's was moved on by ${formatDuration(movedMs)}; webhooks carry the real time`;
  if (Math.abs(skewMs) <= SKEW_MS_MAX)
    return ok('clock', movedMs === 0 ? "the service's clock agrees with this machine's" : moved);
  const far = `${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'}`;
  return warn(
    'clock',
    `the service's clock is ${far} this machine's: receivers refuse webhooks that are five minutes old`,
    'set the time of one of them',
  );
}

/** Checks the producer key with a request that has no event. */
export async function checkProducerKey(session: Session): Promise<Finding> {
  const found = session.settings.find('producerKey');
  if (found === undefined) {
    return warn('producer key', 'none is given: run and trigger need one', 'hookrail start');
  }
  try {
    await session.producer().rest.POST('/producer/events', { body: [] });
  } catch (error) {
    // The API refuses the empty list, after it has accepted the key.
    const isRefusedList = error instanceof ApiRefusal && [400, 413, 422].includes(error.status);
    if (!isRefusedList) return failed('producer key', error);
  }
  return ok('producer key', `accepted (from ${found.source})`);
}

/** Checks the operations port: readiness, whether it belongs to this data directory, the engine, the clock. */
export async function checkOperations(session: Session): Promise<readonly Finding[]> {
  let address: Sourced;
  try {
    address = session.settings.operationsUrl();
  } catch (error) {
    return [failed('operations', error)];
  }
  const { value: url, source } = address;
  const ready = await readiness(url, session.signal).catch((error: unknown) => error);
  if (!isReadiness(ready)) {
    const reason = ready instanceof Error ? reasonOf(ready) : 'it is not the operations port';
    return [
      fail('operations', `${url} (from ${source}): ${reason}`, 'start the sandbox with: hookrail start'),
    ];
  }
  const reasons = [...ready.reasons, ...ready.waiting].join('; ');
  const findings = [
    ready.ready
      ? ok('operations', `${url} is ready${reasons === '' ? '' : `; ${reasons}`} (from ${source})`)
      : fail('operations', `${url} is not ready: ${reasons}`, 'hookrail operator status'),
  ];
  const merchant = session.settings.find('merchant')?.value;
  if (merchant === undefined) return findings;
  try {
    const clock = await new OperationsClient(session).clock(merchant);
    return [...findings, ok('engine', clock.can_move ? 'SQLite' : KAFKA)];
  } catch (error) {
    return [...findings, failed('operator', error)];
  }
}

/** Whether the operations server says that the engine is Kafka. */
export function isKafka(findings: readonly Finding[]): boolean {
  return findings.some(({ check, says }) => check === 'engine' && says === KAFKA);
}

interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly waiting: readonly string[];
}

async function readiness(url: string, signal: AbortSignal): Promise<unknown> {
  const within = AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), signal]);
  const response = await fetch(`${url}/readyz`, { redirect: 'manual', signal: within });
  return response.json();
}

function isReadiness(answer: unknown): answer is Readiness {
  return typeof answer === 'object' && answer !== null && 'ready' in answer && 'reasons' in answer;
}

/** Returns the finding of a failure that a command would end with. */
export function failed(check: string, error: unknown): Finding {
  if (!(error instanceof CommandFailure)) throw error;
  return fail(check, error.message, ...error.next);
}

function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  return error.name === 'SyntaxError'
    ? 'it is not the operations port'
    : `cannot be reached (${code ?? cause.message})`;
}
