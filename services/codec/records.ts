/**
 * The records that hookrail's own streams carry. Both engines use these codecs.
 * The schemas may gain fields with defaults only, so that records of older versions stay readable.
 */
import type { ResponseKept } from '../domain/attempt.ts';
import type { DirectoryChange, Seal } from '../domain/directory.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { type DomainEvent, type EventAsText, eventAsText, withData } from '../domain/event.ts';
import type {
  Attempted,
  Cancelled,
  DeadLetter,
  DeliveryHead,
  JournalEntry,
  Parked,
  Requested,
  Routed,
  RoutingVerdict,
} from '../domain/journal.ts';
import type { Quarantined, RecordOrigin } from '../domain/quarantine.ts';
import type { DeliveryTask } from '../domain/task.ts';
import { asBuffer, recordCodec } from './record-codec.ts';

/** Absent optional fields are null in Avro. */
type InAvro<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

export const taskCodec = recordCodec<DeliveryTask>(['DeliveryTask.avsc'], taskToAvro, taskFromAvro);

const EVENT_SCHEMA = ['DomainEvent.avsc'] as const;

export const eventCodec = recordCodec<DomainEvent>(EVENT_SCHEMA, eventAsText, eventFromAvro);

/** The same bytes, of an event whose data is text already. */
export const eventTextCodec = recordCodec<EventAsText>(EVENT_SCHEMA, (event) => event, eventTextFromAvro);

export const directoryCodec = recordCodec<DirectoryChange>(
  ['DirectoryChange.avsc'],
  (change) => ({
    kind: change.kind,
    id: change.id,
    version: change.version,
    merchant: change.kind === 'merchant' ? change.value : null,
    endpoint: change.kind === 'endpoint' ? change.value : null,
    seal: change.seal ?? null,
  }),
  directoryFromAvro,
);

export const quarantinedCodec = recordCodec<Quarantined>(
  ['Quarantined.avsc'],
  ({ origin, ...record }) => ({
    ...record,
    bytes: asBuffer(record.bytes),
    origin: origin === undefined ? null : originToAvro(origin),
  }),
  ({ reason, detail, at, eventId, merchantId, bytes, origin, ...optional }: InAvro<Quarantined>) => ({
    ...{ reason, detail, at, eventId, merchantId, bytes },
    ...withoutNulls(optional),
    ...(origin === null ? {} : { origin: originFromAvro(origin) }),
  }),
);

/**
 * Returns the length of what an encoded event says of its publisher and of its place: its last bytes. Those before are
 * its content.
 */
export function bytesAfterContent({
  publishedBy,
  sequence,
}: Pick<DomainEvent, 'publishedBy' | 'sequence'>): number {
  // Of each union, the index; then eight bytes of a double, or a text's.
  const ofSequence = sequence === undefined ? 1 : 9;
  if (publishedBy === undefined) return 1 + ofSequence;
  const length = Buffer.byteLength(publishedBy);
  // The length in seven bits a byte, of which one is the sign, and the text.
  return 1 + Math.ceil((Math.floor(Math.log2(Math.max(1, length))) + 2) / 7) + length + ofSequence;
}

function originToAvro(origin: RecordOrigin): object {
  const headers = origin.headers.map(({ name, value }) => ({ name, value: value && asBuffer(value) }));
  return { ...origin, key: origin.key && asBuffer(origin.key), headers };
}

/** Returns the fields of a record that it has. */
function withoutNulls<T extends object>(fields: T): { readonly [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as T;
}

/** Copies into a plain object: Avro's records have a prototype of their own. */
function originFromAvro(origin: RecordOrigin): RecordOrigin {
  return { ...origin, headers: origin.headers.map((header) => ({ ...header })) };
}

export const deadLetterCodec = recordCodec<DeadLetter>(
  ['DeliveryTask.avsc', 'DeadLetter.avsc'],
  (letter) => ({ ...letter, task: taskToAvro(letter.task) }),
  (value: DeadLetter & { task: InAvro<DeliveryTask> }) => ({ ...value, task: taskFromAvro(value.task) }),
);

export const journalCodec = recordCodec<JournalEntry>(
  ['DomainEvent.avsc', 'JournalEntry.avsc'],
  journalToAvro,
  journalFromAvro,
);

/** Several entries in one record. services/codec/journal-blocks.ts writes such records, joins them and takes them apart. */
export const journalEntriesCodec = recordCodec<readonly JournalEntry[]>(
  ['DomainEvent.avsc', 'JournalEntry.avsc', 'JournalEntries.avsc'],
  (entries) => ({ entries: entries.map(journalToAvro) }),
  ({ entries }: { entries: readonly JournalInAvro[] }) => entries.map(journalFromAvro),
);

/** Returns the task itself unless its body is not a Buffer: the usual case allocates nothing. */
function taskToAvro(task: DeliveryTask): DeliveryTask {
  return Buffer.isBuffer(task.body) ? task : { ...task, body: asBuffer(task.body) };
}

function taskFromAvro(value: InAvro<DeliveryTask>): DeliveryTask {
  const { signedWith, traceparent, linkedSpan, parked, ...rest } = value;
  const task: { -readonly [K in keyof DeliveryTask]: DeliveryTask[K] } = rest;
  if (signedWith !== null) task.signedWith = signedWith;
  if (traceparent !== null) task.traceparent = traceparent;
  if (linkedSpan !== null) task.linkedSpan = linkedSpan;
  if (parked !== null) task.parked = { ...parked };
  return task;
}

function eventTextFromAvro(value: EventAsText): EventAsText {
  return withData(value, value.data);
}

function eventFromAvro(value: EventAsText): DomainEvent {
  return withData(value, JSON.parse(value.data));
}

interface DirectoryInAvro extends Pick<DirectoryChange, 'kind' | 'id' | 'version'> {
  readonly merchant: object | null;
  readonly endpoint: InAvro<Endpoint> | null;
  readonly seal: Seal | null;
}

function directoryFromAvro(value: DirectoryInAvro): DirectoryChange {
  const { kind, id, version, merchant, endpoint } = value;
  const sealed = value.seal ? { seal: { ...value.seal } } : {};
  if (kind === 'merchant')
    return { kind, id, version, value: merchant && { ...merchant }, ...sealed } as DirectoryChange;
  return { kind, id, version, value: endpoint && endpointFromAvro(endpoint), ...sealed } as DirectoryChange;
}

function endpointFromAvro(value: InAvro<Endpoint>): Endpoint {
  const { prepared, headers, requestsPerSecond, notices, ...endpoint } = value;
  return {
    ...endpoint,
    secret: { ...endpoint.secret },
    ...(prepared === null ? {} : { prepared: { ...prepared } }),
    ...(headers === null ? {} : { headers: { names: [...headers.names], sealed: { ...headers.sealed } } }),
    ...(requestsPerSecond === null ? {} : { requestsPerSecond }),
    ...(notices === null ? {} : { notices }),
  };
}

interface RoutedInAvro extends Omit<Routed, 'kind' | 'trace'> {
  readonly trace: readonly {
    readonly endpointId: string;
    readonly verdict: string;
    readonly deliveryId: string | null;
    readonly apiVersion: string | null;
  }[];
}

interface AttemptedInAvro extends Omit<Attempted, 'kind' | 'outcome'> {
  readonly outcome: { readonly kind: string; readonly dueAt: number | null };
}

/** Exactly one field is set; the others are null. */
interface JournalInAvro {
  readonly routed?: RoutedInAvro | null;
  readonly requested?: Omit<Requested, 'kind'> | null;
  readonly attempted?: AttemptedInAvro | null;
  readonly cancelled?: Omit<Cancelled, 'kind'> | null;
  readonly parked?: Omit<Parked, 'kind'> | null;
}

function journalToAvro(entry: JournalEntry): JournalInAvro | object {
  switch (entry.kind) {
    case 'routed': {
      const bodies = entry.bodies.map(({ apiVersion, body }) => ({ apiVersion, body: asBuffer(body) }));
      const { at, acceptedAt, event, trace, subjectId } = entry;
      return { routed: { at, acceptedAt, event, bodies, trace, subjectId } };
    }
    case 'requested':
      return { requested: { at: entry.at, delivery: entry.delivery, body: asBuffer(entry.body) } };
    case 'attempted': {
      const { response } = entry;
      if (!response || Buffer.isBuffer(response.body)) return { attempted: entry };
      return { attempted: { ...entry, response: { ...response, body: asBuffer(response.body) } } };
    }
    case 'cancelled':
      return { cancelled: entry };
    case 'parked':
      return { parked: entry };
  }
}

function journalFromAvro(value: JournalInAvro): JournalEntry {
  if (value.routed) {
    const { event, bodies, trace, ...rest } = value.routed;
    return {
      kind: 'routed',
      ...rest,
      event: withData(event, event.data),
      bodies: bodies.map((body) => ({ ...body })),
      trace: trace.map(
        ({ endpointId, verdict, deliveryId, apiVersion }) =>
          (verdict === 'delivered_to'
            ? { endpointId, verdict, deliveryId, apiVersion }
            : { endpointId, verdict }) as RoutingVerdict,
      ),
    };
  }
  if (value.requested) return { kind: 'requested', ...value.requested, delivery: head(value.requested) };
  if (value.cancelled) return { kind: 'cancelled', ...value.cancelled, delivery: head(value.cancelled) };
  if (value.parked) return { kind: 'parked', ...value.parked, delivery: head(value.parked) };
  if (!value.attempted) throw new Error('a journal entry without content');
  const { outcome, response, ...rest } = value.attempted;
  const { kind, dueAt } = outcome;
  return {
    kind: 'attempted',
    ...rest,
    delivery: head(rest),
    outcome: (kind === 'retry' ? { kind, dueAt } : { kind }) as Attempted['outcome'],
    response: response && ({ ...response } as ResponseKept),
  };
}

/** Copies into a plain object: Avro's records have a prototype of their own. */
function head(of: { readonly delivery: DeliveryHead }): DeliveryHead {
  return { ...of.delivery };
}
