import { FIRST_MENTION, type JournalWire } from './journal-wire.ts';

/** A delivery as described where a batch first mentions it. */
export interface Head {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  readonly entityId: string;
  readonly type: number;
  readonly subType: string;
  readonly apiVersion: number;
  readonly trigger: number;
  readonly attemptsMax: number;
  readonly occurredAt: number;
  readonly acceptedAt: number;
}

/** One line of a routing trace, as sent to the writer's thread. */
export type RoutedLine =
  | { readonly kind: 'skipped'; readonly endpointId: string; readonly reason: number }
  | DeliveredLine;

export interface DeliveredLine {
  readonly kind: 'delivered';
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly apiVersion: number;
  readonly ordinal: number;
}

/** A routed event as sent to the writer's thread, in codes. */
export interface RoutedEvent {
  readonly at: number;
  readonly acceptedAt: number;
  readonly eventId: string;
  readonly merchantId: string;
  readonly entityId: string;
  readonly entityKind: number;
  readonly type: number;
  readonly subType: string;
  readonly occurredAt: number;
  readonly simulated: number;
  readonly data: string;
  readonly bodies: Buffer;
  readonly lines: readonly RoutedLine[];
}

/** Reads a batch's values one after the other, in the order journal-wire.ts wrote them. */
export class JournalReader {
  readonly #names: readonly string[];
  readonly #numbers: Float64Array;
  readonly #texts: readonly string[];
  readonly #bytes: Buffer;
  #number = 0;
  #text = 0;
  #offset = 0;

  constructor({ names, numbers, texts, bytes }: JournalWire) {
    this.#names = names;
    this.#numbers = numbers;
    this.#texts = texts;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  number(): number {
    return this.#numbers[this.#number++] ?? 0;
  }

  numberOrNull(): number | null {
    const value = this.number();
    return Number.isNaN(value) ? null : value;
  }

  text(): string {
    return this.#texts[this.#text++] ?? '';
  }

  textOrNull(): string | null {
    return this.number() === 0 ? null : this.text();
  }

  name(): string {
    return this.#names[this.number()] ?? '';
  }

  bytes(length: number): Buffer {
    const start = this.#offset;
    this.#offset += length;
    return this.#bytes.subarray(start, this.#offset);
  }

  /** Returns the ordinal of a delivery mentioned before, or the head of a new one. */
  delivery(): number | Head {
    const ordinal = this.number();
    if (ordinal !== FIRST_MENTION) return ordinal;
    return {
      deliveryId: this.text(),
      eventId: this.text(),
      entityId: this.text(),
      subType: this.text(),
      merchantId: this.name(),
      endpointId: this.name(),
      type: this.number(),
      apiVersion: this.number(),
      trigger: this.number(),
      attemptsMax: this.number(),
      occurredAt: this.number(),
      acceptedAt: this.number(),
    };
  }

  routed(): RoutedEvent {
    return {
      at: this.number(),
      acceptedAt: this.number(),
      eventId: this.text(),
      entityId: this.text(),
      subType: this.text(),
      data: this.text(),
      merchantId: this.name(),
      entityKind: this.number(),
      type: this.number(),
      occurredAt: this.number(),
      simulated: this.number(),
      bodies: this.bytes(this.number()),
      lines: this.#lines(this.number()),
    };
  }

  #lines(count: number): RoutedLine[] {
    const lines: RoutedLine[] = [];
    for (let index = 0; index < count; index += 1) {
      const endpointId = this.name();
      const reason = this.number();
      if (reason !== 0) {
        lines.push({ kind: 'skipped', endpointId, reason });
        continue;
      }
      const deliveryId = this.text();
      const apiVersion = this.number();
      lines.push({ kind: 'delivered', endpointId, deliveryId, apiVersion, ordinal: this.number() });
    }
    return lines;
  }
}
