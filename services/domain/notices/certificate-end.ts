import type { NewNotice } from './notice.ts';

const DAY_MS = 86_400_000;
/** The days before the end of a certificate at which it is told, each once. */
const LEVELS = [
  { days: 1, subType: 'WITHIN_1_DAY' },
  { days: 7, subType: 'WITHIN_7_DAYS' },
  { days: 30, subType: 'WITHIN_30_DAYS' },
] as const;

interface SeenCertificate {
  readonly merchantId: string;
  readonly endpointId: string;
  readonly url: string;
  /** The end of the certificate, and when it was seen, milliseconds since the epoch. */
  readonly until: number;
  readonly at: number;
}

/** Returns the notice that the certificate of an endpoint's server is near its end; undefined when it is not. */
export function certificateNotice({
  merchantId,
  endpointId,
  url,
  until,
  at,
}: SeenCertificate): NewNotice | undefined {
  const level = LEVELS.find(({ days }) => until - at <= days * DAY_MS);
  if (level === undefined) return undefined;
  const secondsLeft = Math.max(0, Math.floor((until - at) / 1000));
  return {
    ...{ merchantId, endpointId, cause: `certificate.expiring/${endpointId}/${until}/${level.days}` },
    ...{ type: 'certificate.expiring', subType: level.subType, at },
    data: { url, certificateUntil: until, secondsLeft },
  };
}
