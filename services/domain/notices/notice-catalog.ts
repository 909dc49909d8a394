import type { ReplayKind } from '../replay.ts';
import type { NoticeData, NoticeType } from './notice.ts';
import { timeLeft } from './notice-words.ts';

export interface NoticeField {
  readonly kind: 'text' | 'whole' | 'time';
  /** It may be null. */
  readonly isNullable?: true;
  readonly meaning: string;
}

interface NoticeEntry {
  /** Says when it is sent. */
  readonly meaning: string;
  readonly subTypes: Readonly<Record<string, string>>;
  /** Of `data`, besides those that every notice has. */
  readonly fields: Readonly<Record<string, NoticeField>>;
  /** One sentence: what happened. */
  readonly says: (data: NoticeData) => string;
  /** One sentence or two: what to do now. */
  readonly remedy: (data: NoticeData) => string;
  /** Of the first subType, as the store has it: times in milliseconds since the epoch. */
  readonly sample: NoticeData;
  /** The fields that differ in a sample of another subType. */
  readonly samples?: Readonly<Record<string, NoticeData>>;
}

/** The fields that every notice has, after its own. */
export const COMMON_FIELDS = {
  merchantUuid: {
    kind: 'text',
    isNullable: true,
    meaning: 'The merchant that it concerns; null: every merchant, or none that is known.',
  },
  endpointUuid: { kind: 'text', isNullable: true, meaning: 'The endpoint that it is about, if any.' },
  at: { kind: 'time', meaning: 'When the cause was seen.' },
  summary: { kind: 'text', meaning: 'What happened, in a sentence for people.' },
  whatToDo: { kind: 'text', meaning: 'What helps, for people.' },
} as const satisfies Readonly<Record<string, NoticeField>>;

const URL_FIELD = { url: { kind: 'text', meaning: 'The URL of the endpoint.' } } as const;
const WINDOW = {
  from: { kind: 'time', meaning: 'The beginning of the window.' },
  until: { kind: 'time', isNullable: true, meaning: 'The end of the window; null: it lasts.' },
} as const satisfies Readonly<Record<string, NoticeField>>;
const LAST_FAILURE = {
  failureCount: { kind: 'whole', meaning: 'Failed attempts since the last success.' },
  lastFailureCode: { kind: 'text', isNullable: true, meaning: 'The failure code of the newest attempt.' },
  lastResponseStatus: {
    kind: 'whole',
    isNullable: true,
    meaning: 'The status of its response, if it had one.',
  },
} as const satisfies Readonly<Record<string, NoticeField>>;

const ENDPOINT_URL = 'https://hooks.merchant.example/webhooks';
const AT = Date.parse('2025-03-01T10:00:00Z');
const HOUR = 3_600_000;
const replayRequest = (endpoint: unknown, since: unknown, only: ReplayKind) =>
  `POST /merchant/webhook-endpoints/${endpoint}/replay with {"since": "${since}", "only": "${only}"}`;

/** Returns the fields of a sample whose endpoint has failed for `hours` of 72. */
const failingFor = (hours: number, percent: number): NoticeData => {
  const left = 72 - hours;
  return {
    ...{ percent, failingSince: AT - hours * HOUR, failureCount: 6 * hours },
    ...{ disabledFrom: AT + left * HOUR, secondsLeft: left * 3600 },
  };
};
/** Returns the fields of a sample whose certificate ends in `hours`. */
const endsIn = (hours: number): NoticeData => ({
  certificateUntil: AT + hours * HOUR,
  secondsLeft: hours * 3600,
});

export const NOTICE_CATALOG: Readonly<Record<NoticeType, NoticeEntry>> = {
  'endpoint.failing': {
    meaning:
      'An endpoint only fails, and 50, 75 or 90 % of the rule that disables it are reached: the time without a success and the number of failures, both.',
    subTypes: { AT_50: 'half of the rule', AT_75: 'three quarters of it', AT_90: 'nine tenths of it' },
    fields: {
      ...URL_FIELD,
      percent: { kind: 'whole', meaning: 'The part of the rule that is reached.' },
      failingSince: {
        kind: 'time',
        meaning: 'The last success; without one, the creation or the last activation.',
      },
      ...LAST_FAILURE,
      disabledFrom: { kind: 'time', meaning: 'The earliest time at which a further failure disables it.' },
      disabledAtFailures: { kind: 'whole', meaning: 'The number of failures that the rule needs as well.' },
      secondsLeft: { kind: 'whole', meaning: 'The time from `at` until `disabledFrom`.' },
    },
    says: (data) =>
      `The endpoint ${data.url} has had no success since ${data.failingSince}: ${data.percent} % of the rule that disables it are reached.`,
    remedy: (data) =>
      `Repair the receiver within ${timeLeft(data)}, by ${data.disabledFrom}: one 2xx ends the count. The endpoint's check (POST …/check) says what fails.`,
    sample: {
      ...{ url: ENDPOINT_URL, percent: 50, failingSince: AT - 36 * HOUR, failureCount: 214 },
      ...{ lastFailureCode: 'http_5xx', lastResponseStatus: 503 },
      ...{ disabledFrom: AT + 36 * HOUR, disabledAtFailures: 100, secondsLeft: 36 * 3600 },
    },
    samples: { AT_75: failingFor(54, 75), AT_90: failingFor(65, 90) },
  },
  'endpoint.disabled': {
    meaning: 'The rule has disabled an endpoint: it only failed for too long, or it answered 410 Gone.',
    subTypes: {
      CONSECUTIVE_FAILURES: 'no success for the whole time of the rule',
      GONE: 'the receiver answered 410',
    },
    fields: {
      ...URL_FIELD,
      failingSince: {
        kind: 'time',
        isNullable: true,
        meaning: 'The last success before; null: it is not known.',
      },
      ...LAST_FAILURE,
    },
    says: (data) => `The endpoint ${data.url} was disabled: nothing is sent to it any more.`,
    remedy: (data) =>
      `Repair the receiver, then enable the endpoint and fetch what it missed: PATCH /merchant/webhook-endpoints/${data.endpointUuid} with {"status": "active", "replay_since": "${data.failingSince ?? data.at}"}`,
    sample: {
      ...{ url: ENDPOINT_URL, failingSince: AT - 72 * HOUR, failureCount: 431 },
      ...{ lastFailureCode: 'http_5xx', lastResponseStatus: 503 },
    },
    samples: {
      GONE: {
        ...{ failingSince: AT - HOUR, failureCount: 1 },
        ...{ lastFailureCode: 'endpoint_gone', lastResponseStatus: 410 },
      },
    },
  },
  'endpoint.recovered': {
    meaning: 'An endpoint that was told to be failing or disabled has answered 2xx again.',
    subTypes: {
      AFTER_DISABLED: 'it was disabled by the rule, and enabled again',
      AFTER_FAILING: 'it was failing',
    },
    fields: {
      ...URL_FIELD,
      failingSince: { kind: 'time', meaning: 'The last success before it failed.' },
      disabledAt: { kind: 'time', isNullable: true, meaning: 'When the rule disabled it; null: it did not.' },
      missedEvents: { kind: 'whole', meaning: 'The events since then that it should have got and has not.' },
    },
    says: (data) =>
      `The endpoint ${data.url} works again. It has missed ${data.missedEvents} events since ${data.failingSince}.`,
    remedy: (data) =>
      data.missedEvents === 0
        ? 'Nothing is to be done.'
        : `They are not sent again by themselves. This request brings them back: ${replayRequest(data.endpointUuid, data.failingSince, 'missing')}`,
    sample: { url: ENDPOINT_URL, failingSince: AT - 72 * HOUR, disabledAt: AT - HOUR, missedEvents: 1280 },
    samples: { AFTER_FAILING: { failingSince: AT - 40 * HOUR, disabledAt: null, missedEvents: 310 } },
  },
  'delivery.exhausted': {
    meaning:
      'Deliveries to an endpoint are over without success: all their attempts failed. Those of a quarter of an hour are told together.',
    subTypes: { GATHERED: 'all of a quarter of an hour' },
    fields: {
      ...WINDOW,
      count: { kind: 'whole', meaning: 'The number of deliveries.' },
      eventsSince: { kind: 'time', meaning: 'The earliest time of their events.' },
    },
    says: (data) =>
      `${data.count} deliveries ended without success between ${data.from} and ${data.until}: every attempt failed.`,
    remedy: (data) =>
      `GET /merchant/webhook-endpoints/${data.endpointUuid}/deliveries?status=exhausted lists them. Once the receiver works: ${replayRequest(data.endpointUuid, data.eventsSince, 'failed')}`,
    sample: { from: AT, until: AT + HOUR / 5, count: 17, eventsSince: AT - 19 * HOUR },
  },
  'events.delayed': {
    meaning:
      'Deliveries are late by our own fault: for five minutes or longer what is due has not been attempted; and again when that is over.',
    subTypes: { BEGAN: 'deliveries are late', ENDED: 'deliveries are on time again' },
    fields: WINDOW,
    says: (data) =>
      data.until === null
        ? `Webhooks have been late since ${data.from}, by our own fault.`
        : `Webhooks that were due between ${data.from} and ${data.until} came late, by our own fault. They are on time again.`,
    remedy: (data) =>
      data.until === null
        ? `Nothing is lost: what is late comes by itself. To see it now: GET /merchant/events?since=${data.from}`
        : `Nothing is to be done. What happened meanwhile: GET /merchant/events?since=${data.from}&until=${data.until}`,
    sample: { from: AT, until: null },
    samples: { ENDED: { from: AT - HOUR / 5, until: AT } },
  },
  'events.lost': {
    meaning:
      'Records were deleted before they were processed, by our own fault: events or deliveries may be missing. Nobody knows whose, so every merchant is told.',
    subTypes: { DELETED_UNREAD: 'the retention of a stream deleted them' },
    fields: {
      from: {
        kind: 'time',
        isNullable: true,
        meaning: 'The beginning of the window; null: it is not known.',
      },
      until: { kind: 'time', meaning: 'The end of the window: when the loss was seen.' },
      stream: { kind: 'text', meaning: 'Where they were: `events`, or a stream of deliveries.' },
      count: { kind: 'whole', meaning: 'How many at the most, of all merchants.' },
    },
    says: (data) =>
      `At most ${data.count} records of ${data.stream} were lost before they were processed, by our own fault.`,
    remedy: (data) =>
      `Compare your own state with GET /merchant/events?until=${data.until}, back to the last time that you know to be right, and ask the platform for the transactions that lack an event.`,
    sample: { from: null, until: AT, stream: 'events', count: 12 },
  },
  'events.quarantined': {
    meaning:
      'Events of a merchant could not be routed and wait until an operator has repaired the cause. Those of a quarter of an hour are told together.',
    subTypes: { GATHERED: 'all of a quarter of an hour' },
    fields: {
      ...WINDOW,
      count: { kind: 'whole', meaning: 'The number of events.' },
      reason: { kind: 'text', meaning: 'Why the first of them could not be routed.' },
      eventUuid: {
        kind: 'text',
        isNullable: true,
        meaning: 'The first of them, if it could be read that far.',
      },
    },
    says: (data) =>
      `${data.count} events could not be delivered between ${data.from} and ${data.until} (${data.reason}). They are kept.`,
    remedy: (data) =>
      data.eventUuid === null
        ? 'They are delivered once the platform has repaired the cause. Until then ask the platform for what your state lacks.'
        : `They are delivered once the platform has repaired the cause. The first one: GET /merchant/lookup/${data.eventUuid}`,
    sample: {
      ...{ from: AT, until: AT + HOUR / 5, count: 3, reason: 'schema_violation' },
      eventUuid: '3f6a2c1e-50f4-4d5e-9a77-8e0f4f2f1b10',
    },
  },
  'certificate.expiring': {
    meaning:
      'The certificate of an endpoint’s server ends within 30, 7 or 1 days. It is looked at once a day, and by every check.',
    subTypes: {
      WITHIN_30_DAYS: '30 days or less',
      WITHIN_7_DAYS: '7 days or less',
      WITHIN_1_DAY: 'a day or less',
    },
    fields: {
      ...URL_FIELD,
      certificateUntil: { kind: 'time', meaning: 'When the certificate ends.' },
      secondsLeft: { kind: 'whole', meaning: 'The time from `at` until then.' },
    },
    says: (data) => `The certificate of ${data.url} ends on ${data.certificateUntil}, in ${timeLeft(data)}.`,
    remedy: () =>
      'Renew the certificate, and have the server load the new one. Afterwards every webhook would fail with tls_error.',
    sample: { url: ENDPOINT_URL, ...endsIn(20 * 24) },
    samples: { WITHIN_7_DAYS: endsIn(6 * 24), WITHIN_1_DAY: endsIn(20) },
  },
  'source_addresses.changing': {
    meaning: 'The platform has announced an address that webhooks will come from, or the end of one.',
    subTypes: { COMES: 'an address comes', GOES: 'an address goes' },
    fields: {
      cidr: { kind: 'text', meaning: 'The address or the network.' },
      changesAt: { kind: 'time', meaning: 'When webhooks may come from it, or no longer do.' },
    },
    says: (data) =>
      data.subType === 'GOES'
        ? `No webhooks come from ${data.cidr} from ${data.changesAt} on.`
        : `Webhooks may come from ${data.cidr} from ${data.changesAt} on.`,
    remedy: (data) =>
      data.subType === 'GOES'
        ? 'If your firewall filters by address, close it for this one afterwards: GET /.well-known/webhook-sources has the list.'
        : 'If your firewall filters by address, open it before then: GET /.well-known/webhook-sources has the list.',
    sample: { cidr: '203.0.113.0/28', changesAt: AT + 7 * 24 * HOUR },
  },
  'secret.rotated': {
    meaning: 'The secret of an endpoint was changed: its webhooks are signed with the new one from then on.',
    subTypes: { ROTATED: 'another secret is in force' },
    fields: {
      ...URL_FIELD,
      secretHint: { kind: 'text', meaning: 'The last characters of the new secret.' },
    },
    says: (data) => `The secret of ${data.url} was changed. The new one ends in ${data.secretHint}.`,
    remedy: () =>
      'If none of you did this, revoke the API key that did (its request is in the audit) and rotate the secret again. Otherwise see that the receiver has the new secret.',
    sample: { url: ENDPOINT_URL, secretHint: '…3fK9' },
  },
};

/** Returns the subTypes of a type of notice, the usual one first. */
export function subTypesOfNotice(type: NoticeType): readonly string[] {
  return Object.keys(NOTICE_CATALOG[type].subTypes);
}

/** Returns all fields of a type's `data`, in their order. */
export function fieldsOfNotice(type: NoticeType): Readonly<Record<string, NoticeField>> {
  return { ...NOTICE_CATALOG[type].fields, ...COMMON_FIELDS };
}
