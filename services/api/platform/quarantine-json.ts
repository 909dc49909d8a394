import type { ClearText } from '../../broker/broker.ts';
import { asBuffer } from '../../codec/record-codec.ts';
import { newEventId, placeOf, type Quarantined } from '../../domain/quarantine.ts';
import { QUARANTINE_TEXTS } from '../../domain/routing/quarantine-texts.ts';
import type { QuarantinedLook } from '../../management/quarantine/look.ts';
import { conflictText } from '../../management/quarantine/replay.ts';
import { shownBytes } from '../../management/quarantine/shown-bytes.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';

/**
 * Quarantined records as the platform sees them. An operator's commands print them in a form of their own
 * (services/operator/commands/quarantine): both are public, so neither can become the other.
 */

/** How a conflict is asked for under a new id. */
export const AS_NEW_EVENT = 'as_new_event';

/** Returns a record without its bytes: they may hold personal data. */
export function quarantinedJson(position: string, record: Quarantined) {
  const { reason, origin } = record;
  const { title, remedy } = QUARANTINE_TEXTS[reason];
  return {
    quarantine_id: position,
    quarantined_at: timestamp(record.at),
    ...{ reason, title, detail: record.detail, remedy },
    event_uuid: record.eventId,
    merchant_id: record.merchantId,
    type: record.type ?? null,
    subType: record.subType ?? null,
    entity_uuid: record.entityId ?? null,
    subject_uuid: record.subjectId ?? record.entityId ?? null,
    occurred_at: timestampOrNull(record.occurredAt ?? null),
    endpoint_uuid: record.endpointId ?? null,
    delivery_uuid: record.deliveryId ?? null,
    published_by: record.publishedBy ?? null,
    place: origin === undefined ? null : placeOf(origin),
    key: origin?.key ? shownBytes(origin.key) : null,
    size_bytes: origin?.valueBytes ?? record.bytes.length,
    new_event_uuid: newEventId(record),
  };
}

/** Returns a record in clear text, with its faults and what a replay would do with it. */
export function lookJson(position: string, { record, clear, faults, refusal }: QuarantinedLook) {
  const conflict = newEventId(record) === null ? null : conflictText(AS_NEW_EVENT);
  return {
    ...quarantinedJson(position, record),
    cause: QUARANTINE_TEXTS[record.reason].cause,
    kafka_record: originJson(record),
    ...contentJson(clear),
    faults,
    would_return: refusal ?? conflict,
    base64: asBuffer(record.bytes).toString('base64'),
  };
}

/** Returns the rest of the Kafka record; null where there was none. */
function originJson({ origin }: Quarantined) {
  if (origin === undefined) return null;
  const headers = origin.headers.map(({ name, value }) => ({ name, value: value && shownBytes(value) }));
  const { timestamp: at, valueBytes, isWhole } = origin;
  return { time: timestamp(at), headers, is_tombstone: valueBytes === null, is_whole: isWhole };
}

/** Each is null where the record holds no such thing, or cannot be read. */
function contentJson(clear: ClearText) {
  const none = { event: null, task: null, journal: null };
  if (clear.kind === 'unreadable') return { ...none, unreadable: clear.why };
  return { ...none, [clear.kind]: clear.document, unreadable: null };
}
