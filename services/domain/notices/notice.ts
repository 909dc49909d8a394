import { EVENT_TYPES, type EventType } from '../event.ts';

/**
 * Operational notices: what hookrail tells merchants about hookrail itself (docs/design/notices.md). They are delivered as
 * events are, to endpoints that ask for them, and no producer can publish them.
 */
export const NOTICE_TYPES = [
  'endpoint.failing',
  'endpoint.disabled',
  'endpoint.recovered',
  'delivery.exhausted',
  'events.delayed',
  'events.lost',
  'events.quarantined',
  'certificate.expiring',
  'source_addresses.changing',
  'secret.rotated',
] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/**
 * The merchant that stands for the platform: its endpoints get the notices of all merchants. No event is about it, and no
 * other merchant can have its id.
 */
export const PLATFORM_MERCHANT_ID = 'f0e1d2c3-0000-4000-8000-000000000001';

/** The types that a webhook may have. */
export type WebhookType = EventType | NoticeType;

/** How an endpoint wants its notices: as a webhook's body, or as Slack's incoming webhooks take a message. */
export const NOTICE_FORMATS = ['json', 'slack'] as const;
export type NoticeFormat = (typeof NOTICE_FORMATS)[number];

/** The values of a notice's data; times are RFC 3339. */
export type NoticeData = Readonly<Record<string, string | number | null>>;

/** A notice that is to be sent. */
export interface NewNotice {
  /** A text that is the same for one cause, however often it is seen, and another for every other cause. */
  readonly cause: string;
  readonly type: NoticeType;
  readonly subType: string;
  /** Null: it concerns every merchant. */
  readonly merchantId: string | null;
  /** The endpoint that it is about, if any. It gets no notice about itself. */
  readonly endpointId: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Known of the cause; the sender of notices adds what it reads from the store. */
  readonly data: NoticeData;
}

/** Causes that are told together are those of one window of this length, at whose end the notice is due. */
export const GATHERED_MS = 15 * 60_000;

export interface Gathered {
  /** `cause`: of all windows; `at`: when the first of them happened. */
  readonly notice: NewNotice;
  readonly count: number;
  readonly lastAt: number;
}

export function isNoticeType(type: string): type is NoticeType {
  return (NOTICE_TYPES as readonly string[]).includes(type);
}

/** Returns the types that a filter of such an endpoint may name. */
export function typesFor(isOperational: boolean): readonly WebhookType[] {
  return isOperational ? NOTICE_TYPES : EVENT_TYPES;
}
