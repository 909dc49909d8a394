import type {
  Attempted,
  Cancelled,
  DeliveryHead,
  JournalEntry,
  Requested,
  Routed,
} from '../../domain/journal.ts';
import type { JournalPosition } from '../store.ts';
import {
  API_VERSION,
  CANCEL_REASON,
  ENTITY_KIND,
  EVENT_TYPE,
  FAILURE_CODE,
  SKIP_REASON,
  TRIGGER,
} from './codes.ts';

/**
 * A journal batch on its way to the writer's thread. Cloning 500 entries as objects costs more than storing
 * them, so they travel as one flat array of primitives (about 50 ns each) and one buffer that changes hands.
 *
 * An entity that comes again in the batch travels once: endpoints and merchants as indexes into `names`,
 * deliveries as the ordinal of their first mention. journal-reader.ts reads in the same order as this file
 * writes.
 */
export interface JournalWire {
  readonly position: JournalPosition;
  readonly names: readonly string[];
  readonly values: readonly WireValue[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

export type WireValue = string | number | null;

export const ENTRY_KIND = { routed: 0, requested: 1, attempted: 2, cancelled: 3 } as const;
export const OUTCOME = { delivered: 0, retry: 1, exhausted: 2, refused: 3 } as const;
/** In place of a delivery's ordinal: its head follows. */
export const FIRST_MENTION = -1;
/** Code and length before each body: the form in which they lie in the event's row as well. */
export const BODY_HEADER_BYTES = 5;

/** Encodes a batch. The answer's bytes may be transferred. */
export function encodeJournal(position: JournalPosition, entries: readonly JournalEntry[]): JournalWire {
  const encoder = new Encoder(bytesOf(entries));
  for (const entry of entries) encoder.entry(entry);
  const { names, values, bytes } = encoder;
  const { partition, first, last } = position;
  return {
    position: { partition, first, last },
    names,
    values,
    bytes,
    count: entries.length,
  };
}

function bytesOf(entries: readonly JournalEntry[]): number {
  let total = 0;
  for (const entry of entries) {
    if (entry.kind === 'routed')
      for (const { body } of entry.bodies) total += BODY_HEADER_BYTES + body.length;
    else if (entry.kind === 'requested') total += entry.body.length;
    else if (entry.kind === 'attempted' && entry.response) total += entry.response.body.length;
  }
  return total;
}

class Encoder {
  readonly names: string[] = [];
  readonly values: WireValue[] = [];
  readonly bytes: Buffer<ArrayBuffer>;
  readonly #nameIndex = new Map<string, number>();
  readonly #ordinals = new Map<string, number>();
  #offset = 0;

  constructor(byteCount: number) {
    // Not from the pool: the whole buffer is transferred to the other thread.
    this.bytes = Buffer.allocUnsafeSlow(byteCount);
  }

  entry(entry: JournalEntry): void {
    switch (entry.kind) {
      case 'routed':
        this.#routed(entry);
        break;
      case 'requested':
        this.#requested(entry);
        break;
      case 'attempted':
        this.#attempted(entry);
        break;
      case 'cancelled':
        this.#cancelled(entry);
        break;
    }
  }

  #routed({ at, acceptedAt, event, bodies, trace }: Routed): void {
    const { values } = this;
    values.push(
      ENTRY_KIND.routed,
      at,
      acceptedAt,
      event.eventId,
      this.#name(event.merchantId),
      event.entityId,
    );
    values.push(ENTITY_KIND.of[event.entityKind], EVENT_TYPE.of[event.type], event.subType, event.occurredAt);
    values.push(event.simulated ? 1 : 0, JSON.stringify(event.data));
    const start = this.#offset;
    for (const { apiVersion, body } of bodies) {
      this.bytes[this.#offset] = API_VERSION.of[apiVersion];
      this.bytes.writeUInt32LE(body.length, this.#offset + 1);
      this.#offset += BODY_HEADER_BYTES;
      this.#bytes(body);
    }
    values.push(this.#offset - start, trace.length);
    for (const line of trace) {
      values.push(this.#name(line.endpointId));
      if (line.verdict === 'delivered_to') {
        values.push(0, line.deliveryId, API_VERSION.of[line.apiVersion], this.#ordinal(line.deliveryId));
      } else values.push(SKIP_REASON.of[line.verdict]);
    }
  }

  #requested({ at, delivery, body }: Requested): void {
    this.values.push(ENTRY_KIND.requested, at);
    this.#head(delivery);
    this.values.push(body.length);
    this.#bytes(body);
  }

  #attempted(entry: Attempted): void {
    const { values } = this;
    const { outcome, response } = entry;
    values.push(ENTRY_KIND.attempted);
    this.#head(entry.delivery);
    values.push(entry.delivery.attempt, entry.endpointVersion, entry.startedAt, entry.durationMs);
    values.push(OUTCOME[outcome.kind], outcome.kind === 'retry' ? outcome.dueAt : null);
    values.push(
      entry.failureCode && FAILURE_CODE.of[entry.failureCode],
      entry.failureDetail,
      entry.signature,
    );
    if (!response) {
      values.push(null);
      return;
    }
    values.push(response.status, JSON.stringify(response.headers), response.body.length);
    values.push(response.bodyTruncated ? 1 : 0);
    this.#bytes(response.body);
  }

  #cancelled({ at, delivery, reason }: Cancelled): void {
    this.values.push(ENTRY_KIND.cancelled, at);
    this.#head(delivery);
    this.values.push(delivery.attempt, CANCEL_REASON.of[reason]);
  }

  #head(head: DeliveryHead): void {
    const ordinal = this.#ordinal(head.deliveryId);
    if (ordinal !== FIRST_MENTION) {
      this.values.push(ordinal);
      return;
    }
    this.values.push(FIRST_MENTION, head.deliveryId, head.eventId, this.#name(head.merchantId));
    this.values.push(this.#name(head.endpointId), head.entityId, EVENT_TYPE.of[head.type], head.subType);
    this.values.push(API_VERSION.of[head.apiVersion], TRIGGER.of[head.trigger], head.attemptsMax);
    this.values.push(head.occurredAt, head.acceptedAt);
  }

  /** The delivery's ordinal, or that it had none until now. */
  #ordinal(deliveryId: string): number {
    const known = this.#ordinals.get(deliveryId);
    if (known !== undefined) return known;
    this.#ordinals.set(deliveryId, this.#ordinals.size);
    return FIRST_MENTION;
  }

  #name(name: string): number {
    const known = this.#nameIndex.get(name);
    if (known !== undefined) return known;
    this.#nameIndex.set(name, this.names.length);
    return this.names.push(name) - 1;
  }

  #bytes(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#offset);
    this.#offset += bytes.length;
  }
}
