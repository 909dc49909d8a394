/**
 * Journal entries read where they lie: nearly all are events routed and attempts made, and of these the delivery log needs
 * few fields. What it seldom needs, and what it only copies, is decoded when it is read.
 */
import avro from 'avsc';
import type { ResponseKept } from '../../domain/attempt.ts';
import type { EventAsText } from '../../domain/event.ts';
import type { Attempted, DeliveryHead, JournalEntry, Routed, RoutingVerdict } from '../../domain/journal.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { journalCodec } from '../records.ts';
import { AvroCursor } from './avro-cursor.ts';

/** Exactly one of a record's fields is there: in this order routed, requested, attempted, cancelled, parked. */
const ABSENT = 0;
const PRESENT = 2;
const AFTER_ROUTED = 4;
const AFTER_ATTEMPTED = 2;

const decoder = journalCodec.decoder();
const cursor = new AvroCursor(Buffer.alloc(0), 0);

/**
 * Returns the entry between these bytes. It refers to them: use it before they are overwritten. Throws when they are not one
 * entry by the current schema.
 */
export function viewEntry(bytes: Buffer, from: number, to: number): JournalEntry {
  cursor.bytes = bytes;
  cursor.at = from + 1;
  let entry: JournalEntry | undefined;
  if (bytes[from] === PRESENT) {
    entry = viewRouted();
    passAbsent(AFTER_ROUTED);
  } else if (bytes[from] === ABSENT && bytes[from + 1] === ABSENT && bytes[from + 2] === PRESENT) {
    cursor.at = from + 3;
    entry = viewAttempted();
    passAbsent(AFTER_ATTEMPTED);
  } else {
    entry = decoder.decode(bytes, from);
    cursor.at = decoder.end;
  }
  if (cursor.at !== to)
    throw new Error(`a journal entry of ${to - from} bytes ends after ${cursor.at - from}`);
  return entry;
}

function passAbsent(fields: number): void {
  for (let field = 0; field < fields; field += 1)
    if (cursor.isPresent()) throw new Error('a journal entry with two contents');
}

/** An event whose data is copied as it is. */
export class ViewedEvent implements EventAsText {
  readonly eventId: string;
  readonly merchantId: string;
  readonly entityId: string;
  readonly entityKind: EventAsText['entityKind'];
  readonly type: EventAsText['type'];
  readonly subType: string;
  readonly occurredAt: number;
  readonly simulated: boolean;
  readonly dataBytes: Buffer;
  readonly publishedBy?: string;
  readonly sequence?: number;

  constructor(from: AvroCursor) {
    this.eventId = from.text();
    this.merchantId = from.knownText();
    this.entityId = from.text();
    this.entityKind = from.knownText() as EventAsText['entityKind'];
    this.type = from.knownText() as EventAsText['type'];
    this.subType = from.knownText();
    this.occurredAt = from.double();
    this.simulated = from.boolean();
    this.dataBytes = from.view();
    if (from.isPresent()) this.publishedBy = from.knownText();
    if (from.isPresent()) this.sequence = from.double();
  }

  get data(): string {
    return this.dataBytes.toString();
  }
}

function viewRouted(): Routed {
  const at = cursor.double();
  const acceptedAt = cursor.double();
  const event = new ViewedEvent(cursor);
  const bodies: Routed['bodies'][number][] = [];
  for (let left = cursor.block(); left > 0; left = cursor.block())
    for (; left > 0; left -= 1) {
      const apiVersion = cursor.knownText() as Routed['bodies'][number]['apiVersion'];
      bodies.push({ apiVersion, body: cursor.view() });
    }
  const trace: RoutingVerdict[] = [];
  for (let left = cursor.block(); left > 0; left = cursor.block())
    for (; left > 0; left -= 1) trace.push(viewVerdict());
  const subjectId = cursor.isPresent() ? cursor.text() : null;
  return { kind: 'routed', at, acceptedAt, event, subjectId, bodies, trace };
}

function viewVerdict(): RoutingVerdict {
  const endpointId = cursor.knownText();
  const verdict = cursor.knownText();
  const deliveryId = cursor.isPresent() ? cursor.text() : null;
  const apiVersion = cursor.isPresent() ? cursor.knownText() : null;
  const line =
    verdict === 'delivered_to' ? { endpointId, verdict, deliveryId, apiVersion } : { endpointId, verdict };
  return line as RoutingVerdict;
}

/** A delivery of which the log usually needs the ids alone. */
class ViewedHead implements DeliveryHead {
  readonly deliveryId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  readonly attempt: number;
  readonly #bytes: Buffer;
  readonly #from: number;
  #read: DeliveryHead | undefined;

  constructor(from: AvroCursor) {
    this.#bytes = from.bytes;
    this.#from = from.at;
    this.deliveryId = from.text();
    from.skip();
    this.merchantId = from.knownText();
    this.endpointId = from.knownText();
    for (let field = 0; field < TEXTS_AFTER_ENDPOINT; field += 1) from.skip();
    this.attempt = from.long();
    from.long();
    from.at += TIMES_BYTES;
    if (from.isPresent()) from.skip();
    from.at += SEQUENCE_BYTES;
  }

  get eventId(): string {
    return this.#whole.eventId;
  }

  get entityId(): string {
    return this.#whole.entityId;
  }

  get subjectId(): string | null {
    return this.#whole.subjectId;
  }

  get sequence(): number {
    return this.#whole.sequence;
  }

  get type(): DeliveryHead['type'] {
    return this.#whole.type;
  }

  get subType(): string {
    return this.#whole.subType;
  }

  get apiVersion(): DeliveryHead['apiVersion'] {
    return this.#whole.apiVersion;
  }

  get trigger(): DeliveryHead['trigger'] {
    return this.#whole.trigger;
  }

  get attemptsMax(): number {
    return this.#whole.attemptsMax;
  }

  get occurredAt(): number {
    return this.#whole.occurredAt;
  }

  get acceptedAt(): number {
    return this.#whole.acceptedAt;
  }

  get #whole(): DeliveryHead {
    this.#read ??= wholeHead(new AvroCursor(this.#bytes, this.#from));
    return this.#read;
  }
}

/** entityId, type, subType, apiVersion, trigger. */
const TEXTS_AFTER_ENDPOINT = 5;
/** occurredAt, acceptedAt. */
const TIMES_BYTES = 16;
const SEQUENCE_BYTES = 8;

function wholeHead(from: AvroCursor): DeliveryHead {
  const head = {
    deliveryId: from.text(),
    eventId: from.text(),
    merchantId: from.knownText(),
    endpointId: from.knownText(),
    entityId: from.text(),
    type: from.knownText(),
    subType: from.knownText(),
    apiVersion: from.knownText(),
    trigger: from.knownText(),
    attempt: from.long(),
    attemptsMax: from.long(),
    occurredAt: from.double(),
    acceptedAt: from.double(),
    subjectId: from.isPresent() ? from.text() : null,
    sequence: from.double(),
  };
  return head as DeliveryHead;
}

/** A response whose headers are copied as they are. */
class ViewedResponse implements ResponseKept {
  readonly status: number;
  /** An Avro array of arrays of texts: pairs of name and value. */
  readonly headerBytes: Buffer;
  readonly body: Buffer;
  readonly bodyTruncated: boolean;

  constructor(from: AvroCursor) {
    this.status = from.long();
    const start = from.at;
    for (let left = from.block(); left > 0; left = from.block())
      for (; left > 0; left -= 1)
        for (let texts = from.block(); texts > 0; texts = from.block())
          for (; texts > 0; texts -= 1) from.skip();
    this.headerBytes = from.bytes.subarray(start, from.at);
    this.body = from.view();
    this.bodyTruncated = from.boolean();
  }

  get headers(): ResponseKept['headers'] {
    return headersIn(this.headerBytes);
  }
}

const HEADERS = avro.Type.forSchema({ type: 'array', items: { type: 'array', items: 'string' } });

/** Returns the headers of a response as the journal has them. */
export function headerBytesOf(response: ResponseKept): Buffer {
  return response instanceof ViewedResponse ? response.headerBytes : HEADERS.toBuffer(response.headers);
}

/** Returns the headers of a response that are encoded as the journal has them. */
export function headersIn(bytes: Buffer): ResponseKept['headers'] {
  const from = new AvroCursor(bytes, 0);
  const headers: string[][] = [];
  for (let left = from.block(); left > 0; left = from.block())
    for (; left > 0; left -= 1) {
      const header: string[] = [];
      for (let texts = from.block(); texts > 0; texts = from.block())
        for (; texts > 0; texts -= 1) header.push(from.text());
      headers.push(header);
    }
  return headers as unknown as ResponseKept['headers'];
}

function viewAttempted(): Attempted {
  const delivery = new ViewedHead(cursor);
  const endpointVersion = cursor.long();
  const startedAt = cursor.double();
  const durationMs = cursor.double();
  const kind = cursor.knownText();
  const dueAt = cursor.isPresent() ? cursor.double() : null;
  const outcome = (kind === 'retry' ? { kind, dueAt } : { kind }) as Outcome;
  const failureCode = (cursor.isPresent() ? cursor.knownText() : null) as Attempted['failureCode'];
  const failureDetail = cursor.isPresent() ? cursor.text() : null;
  const response = cursor.isPresent() ? new ViewedResponse(cursor) : null;
  const signature = cursor.text();
  return {
    kind: 'attempted',
    delivery,
    endpointVersion,
    startedAt,
    durationMs,
    outcome,
    failureCode,
    failureDetail,
    response,
    signature,
  };
}
