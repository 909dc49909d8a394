import { EVENT_TYPES } from '../../../services/domain/event.ts';
import type { Clock } from '../../../services/process/clock.ts';
import { listCursor } from '../../../services/store/log/list-cursor.ts';
import { tallyOf } from '../../../services/store/log/tally/tallies.ts';
import { METRIC_STEP_MS, type MetricsQuery } from '../../../services/store/metrics.ts';
import type { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import { PostgresFeed } from '../../../services/store/postgres/feed/postgres-feed.ts';
import { Leaves } from '../../../services/store/postgres/leaves/leaves.ts';
import { LogNames } from '../../../services/store/postgres/log/log-names.ts';
import { Numbers } from '../../../services/store/postgres/log/numbers.ts';
import { PostgresDeliveryLog } from '../../../services/store/postgres/log/postgres-delivery-log.ts';
import { PostgresLists } from '../../../services/store/postgres/log/postgres-lists.ts';
import { replayReads } from '../../../services/store/postgres/maintenance/missed-reads.ts';
import { readsOn } from '../../../services/store/postgres/rules-on.ts';
import { PostgresMetrics } from '../../../services/store/postgres/tally/postgres-metrics.ts';
import { TallyWrites } from '../../../services/store/postgres/tally/tally-writes.ts';
import type { Replays } from '../../../services/store/replays.ts';
import { missedPage } from '../../../services/store/rules/reads/missed-page.ts';
import type { DeliveryFilter, EventFilter } from '../../../services/store/store.ts';
import { type FilledLeaves, MERCHANT } from './fill-leaves.ts';

/** A read of the store port, in a different place of the log every turn. */
export interface PortRead {
  readonly name: string;
  run(turn: number): Promise<unknown>;
}

interface Options {
  readonly leafMs: number;
  readonly clock: Clock;
}

const LIMIT = 100;
const HOUR_MS = 3_600_000;
const RARE = EVENT_TYPES.at(-1);
/** Entries of the feed that are behind the place where a reader resumes. */
const BEHIND = 100;

/** Returns every read of the port that the log's size could slow down, on a filled database. */
export function portReads(
  database: PostgresDatabase,
  filled: FilledLeaves,
  { leafMs, clock }: Options,
): readonly PortRead[] {
  const parts = partsOf(database, leafMs, clock);
  return [
    ...endpointReads(parts, filled),
    ...listReads('deliveries of an endpoint', parts, filled, filled.hotEndpoint),
    ...listReads('deliveries of all endpoints', parts, filled, undefined),
    ...eventReads(parts, filled),
    ...everyMerchantReads(parts, filled),
    ...metricReads(parts, filled),
    ...otherReads(parts, filled),
  ];
}

function partsOf(database: PostgresDatabase, leafMs: number, clock: Clock) {
  const leaves = new Leaves(database, leafMs);
  const names = new LogNames(database);
  const lists = new PostgresLists(database, names);
  const feed = new PostgresFeed({ database, leaves, names, clock });
  const policy = { withoutSuccessMs: HOUR_MS, failedAttempts: 1 };
  const numbers = new Numbers(database);
  const tallies = new TallyWrites(database, leaves);
  const deps = { database, leaves, names, numbers, tallies, feed, clock, policy };
  const log = new PostgresDeliveryLog({ ...deps, logCommit: 'on' });
  const reads = readsOn(database);
  const replays = {
    ...reads.replays,
    missed: (...args: Parameters<Replays['missed']>) =>
      database.read((statements) => missedPage(statements, replayReads, ...args)),
  };
  return {
    lists,
    metrics: new PostgresMetrics(database, names),
    feed,
    log,
    replays,
    audit: reads.audit,
    endpoints: reads.endpoints,
  };
}

type Parts = ReturnType<typeof partsOf>;

function endpointReads(
  { endpoints }: Parts,
  { hotEndpoint, endpoints: all, leaves }: FilledLeaves,
): PortRead[] {
  const createdAt = (turn: number) => (leaves.at(-1)?.from ?? 0) + 100 + (turn % 1000);
  const list = (options: Partial<Parameters<typeof endpoints.list>[1]>) =>
    endpoints.list(MERCHANT, { limit: LIMIT, ...options });
  return [
    { name: 'endpoints, first page', run: () => list({}) },
    {
      name: 'endpoints, a page in the middle',
      run: (turn) => list({ after: { createdAt: createdAt(turn), uuid: hotEndpoint } }),
    },
    { name: 'endpoints with a rare status', run: () => list({ status: 'auto_disabled' }) },
    { name: 'an endpoint', run: (turn) => endpoints.get(MERCHANT, pick(all, turn)) },
  ];
}

function listReads(
  name: string,
  { lists }: Parts,
  filled: FilledLeaves,
  endpointId: string | undefined,
): PortRead[] {
  const { middle, hour } = placesIn(filled);
  const list = (options: DeliveryFilter & { readonly after?: string }) =>
    lists.deliveries(MERCHANT, { limit: LIMIT, ...(endpointId ? { endpointId } : {}), ...options });
  const withStatus = (status: NonNullable<DeliveryFilter['status']>): PortRead => ({
    name: `${name}, ${status}`,
    run: (turn) => list({ status, after: middle(turn) }),
  });
  return [
    { name: `${name}, first page`, run: () => list({}) },
    { name: `${name}, a page in the middle`, run: (turn) => list({ after: middle(turn) }) },
    { name: `${name}, of one hour`, run: (turn) => list(hour(turn)) },
    ...(['delivered', 'pending', 'failed', 'exhausted', 'cancelled'] as const).map(withStatus),
    ...(RARE
      ? [
          {
            name: `${name}, of a rare type`,
            run: (turn: number) => list({ type: RARE, after: middle(turn) }),
          },
        ]
      : []),
    {
      name: `${name}, of an entity`,
      run: (turn) => list({ entityId: filled.entityId, after: middle(turn) }),
    },
    { name: `${name}, of a transaction`, run: () => list({ transactionId: filled.subjectId }) },
    { name: `${name}, of a subject`, run: () => list({ subjectId: filled.subjectId }) },
  ];
}

function eventReads({ lists, log }: Parts, filled: FilledLeaves): PortRead[] {
  const { middle, hour } = placesIn(filled);
  const list = (options: EventFilter & { readonly after?: string }) =>
    lists.events(MERCHANT, { limit: LIMIT, ...options });
  return [
    { name: 'events, first page', run: () => list({}) },
    { name: 'events, a page in the middle', run: (turn) => list({ after: middle(turn) }) },
    { name: 'events of one hour', run: (turn) => list(hour(turn)) },
    {
      name: 'events that were filtered (none)',
      run: (turn) => list({ verdict: 'filtered', after: middle(turn) }),
    },
    { name: 'events of an entity', run: () => list({ entityId: filled.entityId }) },
    { name: 'events of a transaction', run: () => list({ transactionId: filled.subjectId }) },
    { name: 'events of a subject', run: () => list({ subjectId: filled.subjectId }) },
    { name: 'an event with its trace', run: (turn) => log.event(MERCHANT, pick(filled.events, turn)) },
  ];
}

function everyMerchantReads({ lists, log, endpoints }: Parts, filled: FilledLeaves): PortRead[] {
  const { middle, hour } = placesIn(filled);
  const deliveries = (options: DeliveryFilter & { readonly after?: string }) =>
    lists.deliveries(null, { limit: LIMIT, ...options });
  const events = (options: EventFilter & { readonly after?: string }) =>
    lists.events(null, { limit: LIMIT, ...options });
  return [
    { name: 'everybody’s deliveries, first page', run: () => deliveries({}) },
    { name: 'everybody’s deliveries, of one hour', run: (turn) => deliveries(hour(turn)) },
    {
      name: 'everybody’s deliveries, failed',
      run: (turn) => deliveries({ status: 'failed', after: middle(turn) }),
    },
    { name: 'everybody’s deliveries, of a subject', run: () => deliveries({ subjectId: filled.subjectId }) },
    { name: 'everybody’s events, first page', run: () => events({}) },
    { name: 'everybody’s events, a page in the middle', run: (turn) => events({ after: middle(turn) }) },
    { name: 'everybody’s events, of an entity', run: () => events({ entityId: filled.entityId }) },
    {
      name: 'the merchant of a delivery',
      run: (turn) => log.ownerOf(pick(filled.deliveries, turn).deliveryId),
    },
    { name: 'events of an id', run: (turn) => log.eventsOf(pick(filled.events, turn)) },
    { name: 'everybody’s endpoints', run: () => endpoints.every({ limit: LIMIT }) },
    { name: 'an endpoint of whatever merchant', run: (turn) => endpoints.find(pick(filled.endpoints, turn)) },
  ];
}

function metricReads({ metrics }: Parts, filled: FilledLeaves): PortRead[] {
  const { hour } = placesIn(filled);
  const { hotEndpoint: endpointId } = filled;
  const ofHour = (turn: number) => {
    const from = tallyOf(hour(turn).since);
    return { from, to: from + HOUR_MS, step: METRIC_STEP_MS };
  };
  const [from, to] = [filled.leaves[0]?.from ?? 0, filled.leaves.at(-1)?.to ?? 0];
  const newest = { from: Math.max(from, to - 24 * HOUR_MS), to, step: HOUR_MS };
  const read = (query: MetricsQuery) => metrics.read(MERCHANT, query);
  return [
    { name: 'metrics of one hour', run: (turn) => read({ ...ofHour(turn), by: 'outcome' }) },
    { name: 'metrics of one day', run: () => read({ ...newest, step: 3 * METRIC_STEP_MS }) },
    { name: 'metrics of an endpoint, of one hour', run: (turn) => read({ ...ofHour(turn), endpointId }) },
    { name: 'metrics of an endpoint, of a day', run: () => read({ ...newest, endpointId, by: 'code' }) },
  ];
}

function otherReads({ log, feed, replays, audit }: Parts, filled: FilledLeaves): PortRead[] {
  const [oldest, newest] = [filled.leaves[0], filled.leaves.at(-1)];
  const scope = {
    merchantId: null,
    only: 'failed',
    since: oldest?.from ?? 0,
    until: newest?.to ?? 0,
    types: null,
    eventIds: null,
  } as const;
  return [
    {
      name: 'a delivery with its attempts',
      run: (turn) => {
        const { endpointId, deliveryId } = pick(filled.deliveries, turn);
        return log.delivery(MERCHANT, endpointId, deliveryId);
      },
    },
    {
      name: 'whether a delivery is recorded',
      run: (turn) => log.isRecorded(pick(filled.deliveries, turn).deliveryId),
    },
    {
      name: `the feed, ${BEHIND} entries ago`,
      run: () => feed.read(MERCHANT, { after: `${filled.feedHead - BEHIND}`, limit: LIMIT }),
    },
    {
      name: 'missed by an endpoint',
      run: () => replays.missed({ ...scope, endpointId: filled.hotEndpoint }, null, LIMIT),
    },
    {
      name: 'missed by an endpoint, since the middle',
      run: (turn) =>
        replays.missed(
          { ...scope, endpointId: filled.hotEndpoint, since: momentIn(filled, turn) },
          null,
          LIMIT,
        ),
    },
    {
      name: 'all events for a replay, since the middle',
      run: (turn) =>
        replays.missed(
          { ...scope, only: 'all', endpointId: filled.hotEndpoint, since: momentIn(filled, turn) },
          null,
          LIMIT,
        ),
    },
    { name: 'replays', run: () => replays.list({ limit: LIMIT }) },
    { name: 'audit of a merchant', run: () => audit.list({ merchantId: MERCHANT, limit: LIMIT }) },
    { name: 'audit of an endpoint', run: () => audit.list({ endpointId: filled.hotEndpoint, limit: LIMIT }) },
  ];
}

/** Returns a time within the log, a different one each turn. */
function momentIn({ leaves }: FilledLeaves, turn: number): number {
  const [from, to] = [leaves[0]?.from ?? 0, leaves.at(-1)?.to ?? 0];
  return Math.floor(from + ((turn * 0.618) % 1) * (to - from));
}

function placesIn(filled: FilledLeaves) {
  const moment = (turn: number) => momentIn(filled, turn + 0.5);
  return {
    middle: (turn: number) => listCursor({ createdAt: moment(turn), seq: 1 }),
    hour: (turn: number) => ({ since: moment(turn), until: moment(turn) + HOUR_MS }),
  };
}

function pick<Item>(items: readonly Item[], turn: number): Item {
  const item = items[Math.floor(turn * 0.618 * items.length) % items.length];
  if (item === undefined) throw new Error('the log is empty');
  return item;
}
