import type { FailureCode } from '../../domain/attempt.ts';
import type { ApiVersion } from '../../domain/endpoint.ts';
import type { EntityKind } from '../../domain/event.ts';
import type { SkipReason } from '../../domain/journal.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';
import type { CancelReason } from '../../domain/outcome.ts';
import type { ParkedReason, Trigger } from '../../domain/task.ts';
import type { DeliveryStatus } from '../store.ts';

/**
 * Words as small integers, as they are stored in the file. A number never changes its meaning: a new word gets the next
 * number, and the code does not compile until it has one.
 */
interface Codes<Word extends string> {
  readonly of: Readonly<Record<Word, number>>;
  /** Returns the word of a stored number. Throws when this build does not know the number. */
  word(code: number): Word;
}

function codes<Word extends string>(name: string, of: Readonly<Record<Word, number>>): Codes<Word> {
  const words = new Map(Object.entries<number>(of).map(([word, code]) => [code, word as Word]));
  return {
    of,
    word(code) {
      const word = words.get(code);
      if (word === undefined)
        throw new Error(`the store has ${name} ${code}, which this build does not know`);
      return word;
    },
  };
}

export const STATUS = codes<DeliveryStatus>('delivery status', {
  pending: 1,
  delivered: 2,
  failed: 3,
  exhausted: 4,
  cancelled: 5,
  refused: 6,
});

export const API_VERSION = codes<ApiVersion>('API version', { '2.2.8': 1, '2.3.8': 2 });

export const TRIGGER = codes<Trigger>('trigger', { live: 1, test: 2, manual: 3, replay: 4 });

export const ENTITY_KIND = codes<EntityKind>('entity kind', { USER: 1, CORPORATE: 2 });

export const CANCEL_REASON = codes<CancelReason>('cancel reason', {
  endpoint_deleted: 1,
  endpoint_disabled: 2,
  endpoint_auto_disabled: 3,
  endpoint_changed: 4,
});

export const PARKED_REASON = codes<ParkedReason>('parked reason', {
  endpoint_full: 1,
  merchant_paused: 2,
  secret_not_openable: 3,
  machine_limit: 4,
  network_down: 5,
  egress_proxy: 6,
  origin_connections: 7,
  put_aside: 8,
  signing_key_missing: 9,
  rate_limited_here: 10,
});

/** In a routing trace; 0 is "delivered to". */
export const SKIP_REASON = codes<SkipReason>('skip reason', {
  filtered: 1,
  endpoint_disabled: 2,
  endpoint_auto_disabled: 3,
  type_not_in_api_version: 4,
  subtype_not_in_api_version: 5,
});

export const EVENT_TYPE = codes<WebhookType>('event type', {
  fiatToCrypto: 1,
  cryptoToFiat: 2,
  KYC: 3,
  KYB: 4,
  AML: 5,
  serviceBankAccount: 6,
  entityStatusUpdate: 7,
  walletCreated: 8,
  linkedBankAccountProfile: 9,
  linkBankAccount: 10,
  duplicateUser: 11,
  senderNameMismatch: 12,
  otpNotification: 13,
  // Operational notices.
  'endpoint.failing': 101,
  'endpoint.disabled': 102,
  'endpoint.recovered': 103,
  'delivery.exhausted': 104,
  'events.delayed': 105,
  'events.lost': 106,
  'events.quarantined': 107,
  'certificate.expiring': 108,
  'source_addresses.changing': 109,
  'secret.rotated': 110,
});

export const FAILURE_CODE = codes<FailureCode>('failure code', {
  dns_error: 1,
  blocked_address: 2,
  connect_timeout: 3,
  connect_refused: 4,
  tls_error: 5,
  response_timeout: 6,
  connection_reset: 7,
  protocol_error: 8,
  headers_too_large: 9,
  http_1xx: 10,
  http_3xx: 11,
  http_4xx: 12,
  http_5xx: 13,
  endpoint_gone: 14,
});
