import { FIRST_MENTION, type JournalWire, type WireValue } from './journal-wire.ts';

/** A delivery as its first mention describes it. */
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

/** One line of a routing trace, as it travels. */
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

/** A routed event as it travels, in codes. */
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

/** Reads the values of a batch one after the other, in the order journal-wire.ts wrote them. */
export class JournalReader {
  readonly #names: readonly string[];
  readonly #values: readonly WireValue[];
  readonly #bytes: Buffer;
  #at = 0;
  #offset = 0;

  constructor(wire: JournalWire) {
    this.#names = wire.names;
    this.#values = wire.values;
    this.#bytes = Buffer.from(wire.bytes.buffer, wire.bytes.byteOffset, wire.bytes.byteLength);
  }

  number(): number {
    return this.#values[this.#at++] as number;
  }

  text(): string {
    return this.#values[this.#at++] as string;
  }

  numberOrNull(): number | null {
    return this.#values[this.#at++] as number | null;
  }

  textOrNull(): string | null {
    return this.#values[this.#at++] as string | null;
  }

  name(): string {
    return this.#names[this.number()] ?? '';
  }

  bytes(length: number): Buffer {
    const start = this.#offset;
    this.#offset += length;
    return this.#bytes.subarray(start, this.#offset);
  }

  /** The ordinal of a delivery mentioned before, or the head of one mentioned first. */
  delivery(): number | Head {
    const ordinal = this.number();
    if (ordinal !== FIRST_MENTION) return ordinal;
    return {
      deliveryId: this.text(),
      eventId: this.text(),
      merchantId: this.name(),
      endpointId: this.name(),
      entityId: this.text(),
      type: this.number(),
      subType: this.text(),
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
      merchantId: this.name(),
      entityId: this.text(),
      entityKind: this.number(),
      type: this.number(),
      subType: this.text(),
      occurredAt: this.number(),
      simulated: this.number(),
      data: this.text(),
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
