import { encodeCursor } from '../../../services/api/pagination.ts';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import type { FilledLog } from './fill-log.ts';

const ENDPOINTS = '/merchant/webhook-endpoints';
/** Entries of the stream that are behind the place where a reader resumes. */
const BEHIND = 100;

export interface ReadKind {
  readonly name: string;
  readonly path: (turn: number) => string;
  /** For the stream: the id after which it is resumed. */
  readonly lastEventId?: (turn: number) => string;
  /** Of the response; 200 by default. */
  readonly status?: number;
}

/** Returns every read of the API, each in a different place of the log every turn. */
export function readKinds(filled: FilledLog): readonly ReadKind[] {
  const kinds = [...ofEndpoints(filled), ...ofAnEndpoint(filled), ...ofAllEndpoints(filled)];
  const stream: ReadKind = {
    name: `the stream, resumed ${BEHIND} entries ago`,
    path: () => '/merchant/stream?seconds=0',
    lastEventId: () => String(filled.feedHead - BEHIND),
  };
  const unknown: ReadKind = {
    name: 'what an unknown id is',
    path: () => `/merchant/lookup/${crypto.randomUUID()}`,
    status: 404,
  };
  return [...kinds.map(([name, path]) => ({ name, path })), unknown, stream];
}

type Named = readonly [name: string, path: (turn: number) => string];

function ofEndpoints({ from, hotEndpoint, endpoints }: FilledLog): Named[] {
  const middle = (turn: number) => encodeCursor(`${from + 50 * turn}/${hotEndpoint}`);
  return [
    ['endpoints, first page', () => `${ENDPOINTS}?limit=100`],
    ['endpoints, a page in the middle', (turn) => `${ENDPOINTS}?limit=100&cursor=${middle(turn)}`],
    ['endpoints with a rare status', () => `${ENDPOINTS}?limit=100&status=auto_disabled`],
    ['an endpoint', (turn) => `${ENDPOINTS}/${pick(endpoints, turn)}`],
  ];
}

function ofAnEndpoint(filled: FilledLog): Named[] {
  const log = `${ENDPOINTS}/${filled.hotEndpoint}/deliveries?limit=100`;
  return [
    ...ofList('deliveries', log, filled),
    [
      'a delivery with its attempts',
      (turn) => {
        const { endpointId, deliveryId } = pick(filled.deliveries, turn);
        return `${ENDPOINTS}/${endpointId}/deliveries/${deliveryId}`;
      },
    ],
  ];
}

function ofAllEndpoints(filled: FilledLog): Named[] {
  const log = '/merchant/events?limit=100';
  const { deep, hour, moment, period } = placesIn(filled);
  return [
    ...ofList('deliveries of all endpoints', '/merchant/deliveries?limit=100', filled),
    ['events, first page', () => log],
    ['events, a page in the middle', (turn) => `${log}&cursor=${deep(turn)}`],
    ['events of a rare type', (turn) => `${log}&type=${RARE}&cursor=${deep(turn)}`],
    ['events that were filtered (none)', (turn) => `${log}&verdict=filtered&cursor=${deep(turn)}`],
    ['events of one hour', (turn) => `${log}&${hour(turn)}`],
    ['an event with its trace', (turn) => `/merchant/events/${pick(filled.events, turn)}`],
    ['the event feed, a page of 500 with bodies', (turn) => `${FEED}&limit=500&since=${moment(turn)}`],
    ...ofIds(filled),
    ['metrics of all endpoints, an hour', (turn) => `/merchant/metrics?${period(turn, HOUR_MS)}`],
    ['metrics of all endpoints, a day', (turn) => `/merchant/metrics?${period(turn, 24 * HOUR_MS)}`],
  ];
}

function ofIds({ events, deliveries, subjects, entities }: FilledLog): Named[] {
  const about = (turn: number) => `transaction_uuid=${pick(subjects, turn)}`;
  return [
    ['the story of a transaction', (turn) => `/merchant/subjects/${pick(subjects, turn)}`],
    ['the story of a user', (turn) => `/merchant/subjects/${pick(entities, turn)}`],
    ['events of a transaction', (turn) => `/merchant/events?${about(turn)}`],
    ['deliveries of a transaction', (turn) => `/merchant/deliveries?${about(turn)}`],
    ['deliveries of a user', (turn) => `/merchant/deliveries?entity_uuid=${pick(entities, turn)}`],
    ['what an event’s id is', (turn) => `/merchant/lookup/${pick(events, turn)}`],
    ['what a delivery’s id is', (turn) => `/merchant/lookup/${pick(deliveries, turn).deliveryId}`],
    ['what a transaction’s id is', (turn) => `/merchant/lookup/${pick(subjects, turn)}`],
  ];
}

function ofList(name: string, log: string, filled: FilledLog): Named[] {
  const { deep, hour } = placesIn(filled);
  return [
    [`${name}, first page`, () => log],
    [`${name}, a page in the middle`, (turn) => `${log}&cursor=${deep(turn)}`],
    [`${name}, exhausted`, (turn) => `${log}&status=exhausted&cursor=${deep(turn)}`],
    [`${name}, pending (few)`, (turn) => `${log}&status=pending&cursor=${deep(turn)}`],
    [`${name}, of a rare type`, (turn) => `${log}&type=${RARE}&cursor=${deep(turn)}`],
    [`${name}, of one hour`, (turn) => `${log}&${hour(turn)}`],
  ];
}

const FEED = '/merchant/events?order=asc&include=body';
const HOUR_MS = 3_600_000;
const RARE = EVENT_TYPES.at(-1);

function placesIn({ from, to }: FilledLog) {
  /** Returns a time within the log, a different one each turn. */
  const moment = (turn: number) => Math.floor(from + ((turn * 0.618) % 1) * (to - from));
  const iso = (at: number) => new Date(at).toISOString();
  return {
    deep: (turn: number) => encodeCursor(`${moment(turn)}.1`),
    hour: (turn: number) => `since=${iso(moment(turn))}&until=${iso(moment(turn) + HOUR_MS)}`,
    moment: (turn: number) => iso(moment(turn)),
    period: (turn: number, ms: number) => `from=${iso(moment(turn))}&to=${iso(moment(turn) + ms)}`,
  };
}

function pick<Item>(items: readonly Item[], turn: number): Item {
  const item = items[turn % items.length];
  if (item === undefined) throw new Error('the delivery log is empty');
  return item;
}
