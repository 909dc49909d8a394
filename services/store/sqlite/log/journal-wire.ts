import { dataText } from '../../../codec/data-text.ts';
import type {
  Attempted,
  Cancelled,
  DeliveryHead,
  JournalEntry,
  Parked,
  Requested,
  Routed,
} from '../../../domain/journal.ts';
import type { JournalPosition } from '../../store.ts';
import {
  API_VERSION,
  CANCEL_REASON,
  ENTITY_KIND,
  EVENT_TYPE,
  FAILURE_CODE,
  PARKED_REASON,
  SKIP_REASON,
  TRIGGER,
} from '../codes.ts';

/**
 * A journal batch in the form sent to the writer's thread: its numbers and its bytes as transferred buffers, its texts
 * as one flat array. Cloning entries as objects would create them all again on the other side.
 *
 * A value that recurs in the batch is sent once: endpoints and merchants as indexes into `names`, deliveries
 * as the ordinal of their first mention. journal-reader.ts reads in the same order as this file writes.
 */
export interface JournalWire {
  readonly position: JournalPosition;
  readonly names: readonly string[];
  /** NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly texts: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

export const ENTRY_KIND = { routed: 0, requested: 1, attempted: 2, cancelled: 3, parked: 4 } as const;
export const OUTCOME = { delivered: 0, retry: 1, exhausted: 2, refused: 3 } as const;
/** Replaces a delivery's ordinal: its head follows. */
export const FIRST_MENTION = -1;
/** Code and length before each body: also the form in which the event's row stores them. */
export const BODY_HEADER_BYTES = 5;

/** Encodes a batch. The result's bytes may be transferred. */
export function encodeJournal(position: JournalPosition, entries: readonly JournalEntry[]): JournalWire {
  const encoder = new Encoder(bytesOf(entries), entries.length);
  for (const entry of entries) encoder.entry(entry);
  const { names, numbers, texts, bytes } = encoder;
  const { partition, first, last, positions } = position;
  return {
    position: { partition, first, last, ...(positions === undefined ? {} : { positions }) },
    names,
    numbers,
    texts,
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

/** Room for the numbers of a usual batch; it grows by half when it is not enough. */
const NUMBERS_PER_ENTRY = 24;

class Encoder {
  readonly names: string[] = [];
  readonly texts: string[] = [];
  readonly bytes: Buffer<ArrayBuffer>;
  numbers: Float64Array<ArrayBuffer>;
  readonly #nameIndex = new Map<string, number>();
  readonly #ordinals = new Map<string, number>();
  #offset = 0;
  #count = 0;

  constructor(byteCount: number, entryCount: number) {
    // Not from the pool: the whole buffer is transferred to the other thread.
    this.bytes = Buffer.allocUnsafeSlow(byteCount);
    this.numbers = new Float64Array(NUMBERS_PER_ENTRY * entryCount + NUMBERS_PER_ENTRY);
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
      case 'parked':
        this.#parked(entry);
        break;
    }
  }

  #routed({ at, acceptedAt, event, bodies, trace }: Routed): void {
    this.#number(ENTRY_KIND.routed);
    this.#number(at);
    this.#number(acceptedAt);
    this.texts.push(event.eventId, event.entityId, event.subType, dataText(event));
    this.#name(event.merchantId);
    this.#number(ENTITY_KIND.of[event.entityKind]);
    this.#number(EVENT_TYPE.of[event.type]);
    this.#number(event.occurredAt);
    this.#number(event.simulated ? 1 : 0);
    const start = this.#offset;
    for (const { apiVersion, body } of bodies) {
      this.bytes[this.#offset] = API_VERSION.of[apiVersion];
      this.bytes.writeUInt32LE(body.length, this.#offset + 1);
      this.#offset += BODY_HEADER_BYTES;
      this.#bytes(body);
    }
    this.#number(this.#offset - start);
    this.#number(trace.length);
    for (const line of trace) {
      this.#name(line.endpointId);
      if (line.verdict !== 'delivered_to') {
        this.#number(SKIP_REASON.of[line.verdict]);
        continue;
      }
      this.#number(0);
      this.texts.push(line.deliveryId);
      this.#number(API_VERSION.of[line.apiVersion]);
      this.#number(this.#ordinal(line.deliveryId));
    }
  }

  #requested({ at, delivery, body }: Requested): void {
    this.#number(ENTRY_KIND.requested);
    this.#number(at);
    this.#head(delivery);
    this.#number(body.length);
    this.#bytes(body);
  }

  #attempted(entry: Attempted): void {
    const { outcome, response, failureCode, failureDetail } = entry;
    this.#number(ENTRY_KIND.attempted);
    this.#head(entry.delivery);
    this.#number(entry.delivery.attempt);
    this.#number(entry.endpointVersion);
    this.#number(entry.startedAt);
    this.#number(entry.durationMs);
    this.#number(OUTCOME[outcome.kind]);
    this.#number(outcome.kind === 'retry' ? outcome.dueAt : Number.NaN);
    this.#number(failureCode === null ? Number.NaN : FAILURE_CODE.of[failureCode]);
    this.#number(failureDetail === null ? 0 : 1);
    if (failureDetail !== null) this.texts.push(failureDetail);
    this.texts.push(entry.signature);
    this.#number(response ? response.status : Number.NaN);
    if (!response) return;
    this.texts.push(JSON.stringify(response.headers));
    this.#number(response.body.length);
    this.#number(response.bodyTruncated ? 1 : 0);
    this.#bytes(response.body);
  }

  #cancelled({ delivery, reason }: Cancelled): void {
    this.#number(ENTRY_KIND.cancelled);
    this.#head(delivery);
    this.#number(delivery.attempt);
    this.#number(CANCEL_REASON.of[reason]);
  }

  #parked({ delivery, reason, until }: Parked): void {
    this.#number(ENTRY_KIND.parked);
    this.#head(delivery);
    this.#number(delivery.attempt);
    this.#number(PARKED_REASON.of[reason]);
    this.#number(until);
  }

  #head(head: DeliveryHead): void {
    const ordinal = this.#ordinal(head.deliveryId);
    this.#number(ordinal);
    if (ordinal !== FIRST_MENTION) return;
    this.texts.push(head.deliveryId, head.eventId, head.entityId, head.subType);
    this.#name(head.merchantId);
    this.#name(head.endpointId);
    this.#number(EVENT_TYPE.of[head.type]);
    this.#number(API_VERSION.of[head.apiVersion]);
    this.#number(TRIGGER.of[head.trigger]);
    this.#number(head.attemptsMax);
    this.#number(head.occurredAt);
    this.#number(head.acceptedAt);
  }

  #number(value: number): void {
    if (this.#count === this.numbers.length) {
      const wider = new Float64Array(Math.ceil(this.numbers.length * 1.5));
      wider.set(this.numbers);
      this.numbers = wider;
    }
    this.numbers[this.#count] = value;
    this.#count += 1;
  }

  /** Writes the delivery's ordinal, or FIRST_MENTION when it has none yet. */
  #ordinal(deliveryId: string): number {
    const known = this.#ordinals.get(deliveryId);
    if (known !== undefined) return known;
    this.#ordinals.set(deliveryId, this.#ordinals.size);
    return FIRST_MENTION;
  }

  #name(name: string): void {
    let index = this.#nameIndex.get(name);
    if (index === undefined) {
      index = this.names.push(name) - 1;
      this.#nameIndex.set(name, index);
    }
    this.#number(index);
  }

  #bytes(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#offset);
    this.#offset += bytes.length;
  }
}
