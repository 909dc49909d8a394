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
}
