import { randomUUID } from 'node:crypto';
import { type EventAsText, eventAsText } from '../../../services/domain/event.ts';
import { deliveryId, uuidV5 } from '../../../services/domain/ids.ts';
import type { Attempted, DeliveryHead, JournalEntry, Routed } from '../../../services/domain/journal.ts';
import { headOf } from '../../../services/store/log/routed-head.ts';
import { makeEvents } from '../load.ts';

export interface JournalLoad {
  readonly events: number;
  /** The partitions of the journal; an endpoint's entries are all in one. */
  readonly partitions: number;
  readonly merchants: number;
  /** The entries of a partition that are handed to the store together. */
  readonly batch: number;
  /** An attempt is in the journal this many events after its routing, and so in a later transaction. */
  readonly attemptedAfter: number;
}

/** A batch of one partition, in the form of `DeliveryLog.applyJournal`. */
interface Batch {
  readonly first: number;
  readonly entries: readonly JournalEntry[];
}

/** Different contents, so that the bytes are those of real traffic. */
const TEMPLATES = 500;
/** Every 33rd first attempt fails and is repeated. */
const FAILS_EVERY = 33;
const VERSION = '2.3.8';
const HEADERS: readonly (readonly [string, string])[] = [
  ['content-type', 'application/json'],
  ['content-length', '2'],
  ['date', 'Sat, 01 Mar 2025 10:15:29 GMT'],
  ['server', 'nginx'],
];
const OK = Buffer.from('ok');

interface LoadEndpoint {
  readonly merchantId: string;
  readonly endpointId: string;
}

/** Returns the endpoint of each merchant. */
export function endpointsOf({ merchants }: Pick<JournalLoad, 'merchants'>): readonly LoadEndpoint[] {
  return Array.from({ length: merchants }, (_, index) => ({
    merchantId: uuidV5('bench-merchant', `${index}`),
    endpointId: uuidV5('bench-endpoint', `${index}`),
  }));
}

interface Made {
  readonly event: EventAsText;
  readonly body: Uint8Array;
}

/**
 * Makes the journal of these partitions: each event goes to the one endpoint of its merchant, and is delivered with the
 * first attempt or, now and then, the second. `wanted` selects partitions. Returns the batches of each in order.
 */
export function makeJournal(
  load: JournalLoad,
  startsAt: number,
  wanted: (partition: number) => boolean,
): ReadonlyMap<number, readonly Batch[]> {
  const { events, partitions, merchants, attemptedAfter } = load;
  const endpoints = endpointsOf(load);
  const templates = madeTemplates();
  const journal = new Map<number, JournalEntry[]>();
  const underWay = new Map<number, { readonly entry: Attempted; readonly partition: number }[]>();
  const later = (at: number, entry: Attempted, partition: number) =>
    underWay.set(at, [...(underWay.get(at) ?? []), { entry, partition }]);
  const add = (partition: number, entry: JournalEntry) => {
    const entries = journal.get(partition) ?? [];
    journal.set(partition, entries);
    entries.push(entry);
  };
  for (let i = 0; i < events + 2 * attemptedAfter; i += 1) {
    for (const { entry, partition } of underWay.get(i) ?? []) add(partition, entry);
    underWay.delete(i);
    const merchant = i % merchants;
    const partition = merchant % partitions;
    if (i >= events || !wanted(partition)) continue;
    const made = templates[i % templates.length];
    const endpoint = endpoints[merchant];
    if (!made || !endpoint) throw new Error('there is no template');
    const { routed, head } = routedTo(made, endpoint, startsAt + i / 10);
    add(partition, routed);
    const fails = i % FAILS_EVERY === 0;
    later(i + attemptedAfter, attempted(head, 1, fails), partition);
    if (fails) later(i + 2 * attemptedAfter, attempted(head, 2, false), partition);
  }
  return new Map([...journal].map(([partition, entries]) => [partition, batchesOf(entries, load.batch)]));
}

function madeTemplates(): readonly Made[] {
  return makeEvents([''], TEMPLATES, 'recorder').map((event) => {
    const { entityId: uuid, type, subType, data } = event;
    return { event: eventAsText(event), body: Buffer.from(JSON.stringify({ uuid, type, subType, data })) };
  });
}

function routedTo({ event, body }: Made, { merchantId, endpointId }: LoadEndpoint, at: number) {
  const eventId = randomUUID();
  const id = deliveryId(eventId, endpointId);
  const line = { endpointId, verdict: 'delivered_to', deliveryId: id, apiVersion: VERSION } as const;
  const routed: Routed = {
    kind: 'routed',
    at: at + 0.5,
    acceptedAt: at,
    subjectId: randomUUID(),
    event: { ...event, eventId, merchantId, entityId: randomUUID(), occurredAt: at },
    bodies: [{ apiVersion: VERSION, body }],
    trace: [line],
  };
  return { routed, head: headOf(routed, line) };
}

function attempted(delivery: DeliveryHead, attempt: number, fails: boolean): Attempted {
  const startedAt = delivery.acceptedAt + attempt * 20;
  return {
    kind: 'attempted',
    delivery: { ...delivery, attempt },
    endpointVersion: 1,
    startedAt,
    durationMs: 25.5,
    outcome: fails ? { kind: 'retry', dueAt: startedAt + 3000 } : { kind: 'delivered' },
    failureCode: fails ? 'http_5xx' : null,
    failureDetail: fails ? 'HTTP 503' : null,
    response: { status: fails ? 503 : 200, headers: HEADERS, body: OK, bodyTruncated: false },
    signature: `v1,${'A'.repeat(43)}=`,
  };
}

function batchesOf(entries: readonly JournalEntry[], size: number): readonly Batch[] {
  const batches: Batch[] = [];
  for (let first = 0; first < entries.length; first += size)
    batches.push({ first, entries: entries.slice(first, first + size) });
  return batches;
}
