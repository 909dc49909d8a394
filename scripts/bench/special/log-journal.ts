import { SEQUENCES_PER_MS } from '../../../services/domain/catalog/sequence.ts';
import {
  EVENT_TYPES,
  type EventAsText,
  type EventType,
  eventAsText,
} from '../../../services/domain/event.ts';
import { deliveryId, uuidV5 } from '../../../services/domain/ids.ts';
import type {
  Attempted,
  DeliveryHead,
  JournalBatch,
  JournalEntry,
  Routed,
} from '../../../services/domain/journal.ts';
import { headOf } from '../../../services/store/log/routed-head.ts';
import { makeEvents } from '../load.ts';

/** The journal of a log that is to be large: what a recorder would have been given over weeks. */
export interface LogJournal {
  readonly merchantId: string;
  /** The first gets every event, and so half of the deliveries; each event goes to one of the others, too. */
  readonly endpoints: readonly string[];
  readonly events: number;
  /** The times of the oldest and the newest event, milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** The events of a batch. */
const BATCH_EVENTS = 1000;
/** Different contents, so that the bytes are those of real traffic. */
const TEMPLATES = 500;
/** The number of events between two of the rarest type. */
const RARE_EVERY = 100_000;
/** Events about one transaction, and transactions of one user. */
const EVENTS_OF_SUBJECT = 4;
const SUBJECTS_OF_ENTITY = 5;
/** Every 1000th delivery was given up, and few are not attempted yet. */
const EXHAUSTED_EVERY = 1000;
const PENDING_EVERY = 999_983;
const VERSION = '2.3.8';
const HEADERS: readonly (readonly [string, string])[] = [
  ['content-type', 'application/json'],
  ['date', 'Sat, 01 Mar 2025 10:15:29 GMT'],
  ['server', 'nginx'],
];
const OK = Buffer.from('ok');
const RESPONSE = { headers: HEADERS, body: OK, bodyTruncated: false };
const SIGNATURE = `v1,${'A'.repeat(43)}=`;

interface Template {
  readonly event: EventAsText;
  readonly body: Uint8Array;
}

/** Returns the id of the transaction that the n-th event is about. */
export function subjectOf(n: number): string {
  return uuidV5('bench-log-subject', `${Math.floor(n / EVENTS_OF_SUBJECT)}`);
}

/** Returns the id of the user of the n-th event. */
export function entityOf(n: number): string {
  return uuidV5('bench-log-entity', `${Math.floor(n / EVENTS_OF_SUBJECT / SUBJECTS_OF_ENTITY)}`);
}

export function eventIdOf(n: number): string {
  return uuidV5('bench-log-event', `${n}`);
}

/** Makes the batches one after the other: together they would not fit into the memory. */
export function* logJournal(journal: LogJournal): Generator<JournalBatch> {
  const templates = madeTemplates();
  let first = 1;
  for (let start = 0; start < journal.events; start += BATCH_EVENTS) {
    const entries: JournalEntry[] = [];
    for (let n = start; n < Math.min(start + BATCH_EVENTS, journal.events); n += 1)
      entries.push(...entriesOf(n, journal, templates));
    yield { partition: 'bench', first, last: first + entries.length - 1, entries };
    first += entries.length;
  }
}

function madeTemplates(): readonly Template[] {
  return makeEvents([''], TEMPLATES, 'log').map((event) => {
    const { entityId: uuid, type, subType, data } = event;
    return { event: eventAsText(event), body: Buffer.from(JSON.stringify({ uuid, type, subType, data })) };
  });
}

function* entriesOf(
  n: number,
  { merchantId, endpoints, events, from, to }: LogJournal,
  templates: readonly Template[],
): Generator<JournalEntry> {
  const { event, body } = templates[n % templates.length] as Template;
  const at = Math.floor(from + (n * (to - from)) / events);
  const eventId = eventIdOf(n);
  const targets = [endpoints[0], endpoints[1 + (n % (endpoints.length - 1))]] as [string, string];
  const trace = targets.map((endpointId) => ({
    ...{ endpointId, verdict: 'delivered_to' as const },
    ...{ deliveryId: deliveryId(eventId, endpointId), apiVersion: VERSION as '2.3.8' },
  }));
  const routed: Routed = {
    kind: 'routed',
    at: at + 0.5,
    acceptedAt: at,
    subjectId: subjectOf(n),
    event: {
      ...event,
      ...{ eventId, merchantId, entityId: entityOf(n), occurredAt: at, type: typeOf(n) },
      sequence: at * SEQUENCES_PER_MS + (n % SEQUENCES_PER_MS),
    },
    bodies: [{ apiVersion: VERSION, body }],
    trace,
  };
  yield routed;
  for (const [target, line] of trace.entries()) yield* attemptsOf(2 * n + target, headOf(routed, line));
}

function typeOf(n: number): EventType {
  if (n % RARE_EVERY === 0) return EVENT_TYPES.at(-1) ?? 'KYC';
  if (n % 10 === 0) return 'KYC';
  return n % 3 === 0 ? 'cryptoToFiat' : 'fiatToCrypto';
}

/** Every fourth delivery took two attempts. */
function* attemptsOf(number: number, delivery: DeliveryHead): Generator<Attempted> {
  if (number % PENDING_EVERY === 0) return;
  const isExhausted = number % EXHAUSTED_EVERY === 0;
  const made = number % 4 === 3 ? 2 : 1;
  for (let attempt = 1; attempt <= made; attempt += 1) {
    const startedAt = delivery.acceptedAt + 20 * attempt;
    const isLast = attempt === made;
    const failed = { failureCode: 'http_5xx', failureDetail: 'HTTP 503' } as const;
    const outcome = isExhausted ? ({ kind: 'exhausted' } as const) : ({ kind: 'delivered' } as const);
    yield {
      ...{
        kind: 'attempted',
        delivery: { ...delivery, attempt },
        endpointVersion: 1,
        startedAt,
        durationMs: 25.5,
      },
      outcome: isLast ? outcome : { kind: 'retry', dueAt: startedAt + 20 },
      ...(isLast && !isExhausted ? { failureCode: null, failureDetail: null } : failed),
      response: { ...RESPONSE, status: isLast && !isExhausted ? 200 : 503 },
      signature: SIGNATURE,
    };
  }
}
