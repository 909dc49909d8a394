import { timestamp } from '../../../api/endpoint-json.ts';
import { newEventId, placeOf, type Quarantined } from '../../../domain/quarantine.ts';
import { QUARANTINE_TEXTS } from '../../../domain/routing/quarantine-texts.ts';
import { shownBytes } from '../../../management/quarantine/shown-bytes.ts';
import { UsageError } from '../operator-error.ts';

/** Quarantined records as the commands show them. */

/** Converts a record store's error for an invalid position. */
export function refuseRange(error: unknown): never {
  throw error instanceof RangeError ? new UsageError(error.message) : error;
}

/** Returns a record without its bytes: they may hold personal data. */
export function quarantinedJson(position: string, record: Quarantined) {
  const { reason, eventId, merchantId, endpointId, deliveryId, origin, detail } = record;
  return {
    ...{ position, at: timestamp(record.at), reason, eventId, merchantId },
    ...(endpointId === undefined ? {} : { endpointId, deliveryId }),
    publishedBy: record.publishedBy ?? null,
    place: origin === undefined ? null : placeOf(origin),
    key: origin?.key ? shownBytes(origin.key) : null,
    bytes: origin?.valueBytes ?? record.bytes.length,
    ...{ title: QUARANTINE_TEXTS[reason].title, detail, remedy: QUARANTINE_TEXTS[reason].remedy },
    ...newIdOf(record),
  };
}

/** Returns the event id under which `--as-new-event` publishes a conflict; nothing for others. */
function newIdOf(record: Quarantined) {
  const id = newEventId(record);
  return id === null ? {} : { asNewEvent: id };
}

/** Returns the rest of the Kafka record; nothing where there was none. */
export function originJson({ origin }: Quarantined) {
  if (origin === undefined) return {};
  const headers = origin.headers.map(({ name, value }) => ({ name, value: value && shownBytes(value) }));
  const { timestamp: at, valueBytes, isWhole } = origin;
  return { recordTime: timestamp(at), headers, isTombstone: valueBytes === null, isWhole };
}
