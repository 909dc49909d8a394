import type { EndpointCheck } from '../../../domain/checks/endpoint-check.ts';
import type { Transaction } from '../../sql/transaction.ts';
import { addNotice } from './notice-writes.ts';

const DAY_MS = 86_400_000;
/** The days before the end of a certificate at which it is told, each once. */
const LEVELS = [
  { days: 1, subType: 'WITHIN_1_DAY' },
  { days: 7, subType: 'WITHIN_7_DAYS' },
  { days: 30, subType: 'WITHIN_30_DAYS' },
] as const;

/** Adds the notice that the certificate of an endpoint's server is near its end, when a check has seen that. */
export async function tellCertificate(
  tx: Transaction,
  merchantId: string,
  endpointId: string,
  { at, url, steps }: EndpointCheck,
): Promise<void> {
  const until = Date.parse(String(steps.find(({ step }) => step === 'tls')?.facts.valid_until));
  const level = LEVELS.find(({ days }) => until - at <= days * DAY_MS);
  if (level === undefined) return;
  const secondsLeft = Math.max(0, Math.floor((until - at) / 1000));
  await addNotice(tx, {
    ...{ merchantId, endpointId, cause: `certificate.expiring/${endpointId}/${until}/${level.days}` },
    ...{ type: 'certificate.expiring', subType: level.subType, at },
    data: { url, certificateUntil: until, secondsLeft },
  });
}
