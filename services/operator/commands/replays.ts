import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { EVENT_TYPES } from '../../domain/event.ts';
import { REPLAY_KINDS } from '../../domain/replay.ts';
import { countMissed } from '../../replayer/count-missed.ts';
import type { ReplayRecord, ReplayScope } from '../../store/replays.ts';
import { type Arguments, type Given, timeOf } from './arguments.ts';
import { type OperatorDeps, on } from './command.ts';
import { requireMerchant } from './merchants.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** Replays after an incident: the merchants' own, and replays over all endpoints. */

const ID = { id: { type: 'text', required: true, positional: true, describe: 'The replayId' } } as const;
const SCOPE = {
  since: {
    type: 'time',
    required: true,
    describe: 'Events from this time on (RFC 3339), or 30m, 2h, 7d ago',
  },
  until: { type: 'time', describe: 'Events before this time (now)' },
  only: {
    type: 'text',
    choices: REPLAY_KINDS,
    required: true,
    describe: 'failed: given up; missing: also skipped and cancelled; all: also what arrived',
  },
  merchant: { type: 'text', describe: 'Only of this merchant' },
  type: { type: 'texts', choices: EVENT_TYPES, describe: 'Only of these event types' },
} as const satisfies Arguments;

export const REPLAY_COMMANDS = {
  'replay start': on('store', {
    describe: 'Replay events that active endpoints missed; the running service does it',
    args: { ...SCOPE, dryRun: { type: 'flag', describe: 'Only count the events' } },
    isLong: true,
    run: start,
  }),
  'replay list': on('store', {
    describe: 'List replays, including the merchants’ own',
    isRead: true,
    args: { limit: { type: 'number', most: 1000, default: 50, describe: 'Number of replays to list' } },
    columns: ['replayId', 'status', 'published', 'count', 'createdAt'],
    isNewestFirst: true,
    run: async ({ store }, { limit }) => (await store.replays.list({ limit })).map(replayJson),
  }),
  'replay get': on('store', {
    describe: 'Show the progress of a replay',
    isRead: true,
    args: ID,
    run: async ({ store }, { id }) => replayJson(await find(store, id)),
  }),
  'replay cancel': on('store', {
    describe: 'Stop a replay; deliveries that it made are not undone',
    args: ID,
    run: async ({ store, clock, actor }, { id }) => {
      const { replayId } = await find(store, id);
      const end = { status: 'cancelled', reason: 'operator', at: clock.wall(), actor } as const;
      const ended = await store.replays.finish(replayId, end);
      if (ended) return replayJson(ended);
      throw new OperatorError(`replay ${replayId} has ended already: see replay get`);
    },
  }),
};

type Scope = Given<typeof SCOPE>;

/** Starts a replay over all active endpoints of one merchant, or of every merchant. With `dryRun` it only counts. */
async function start(deps: OperatorDeps, given: Scope & { readonly dryRun: boolean | undefined }) {
  const { store, clock, random, actor } = deps;
  const at = Math.floor(clock.wall());
  const scope = scopeOf(given, at);
  await requireMerchant(deps, given.merchant);
  const { count, byType, byReason } = await countMissed(store, scope);
  if (given.dryRun) return { dryRun: true, count, byType, byReason, ...scopeJson(scope) };
  const replay = { ...scope, replayId: random.uuid(), count };
  const created = await store.replays.create(replay, { at, actor });
  if (created.kind === 'ok') return replayJson(created.record);
  throw new OperatorError(`replay ${created.replayId} is running: wait for it to end, or use replay cancel`);
}

function scopeOf({ merchant, only, type, ...given }: Scope, now: number): ReplayScope {
  const since = timeOf(given.since, now);
  const until = Math.min(now, timeOf(given.until, now) ?? now);
  if (since >= until) throw new UsageError('since: must be before until, and in the past');
  const events = { types: type ?? null, eventIds: null };
  return { merchantId: merchant ?? null, endpointId: null, only, since, until, ...events };
}

async function find({ replays }: OperatorDeps['store'], id: string): Promise<ReplayRecord> {
  const replay = await replays.get(id);
  if (replay === undefined) throw new OperatorError(`there is no replay ${id}: see replay list`);
  return replay;
}

/**
 * The form for operators: camelCase, as every command prints, and with the merchant. REST has the merchants' form
 * (services/api/routes/replays.ts): both are public, so neither can become the other.
 */
function replayJson(replay: ReplayRecord) {
  return {
    replayId: replay.replayId,
    status: replay.status,
    cancelReason: replay.cancelReason,
    count: replay.count,
    published: replay.published,
    leftOut: replay.leftOut,
    ...scopeJson(replay),
    createdAt: timestamp(replay.createdAt),
    finishedAt: timestampOrNull(replay.finishedAt),
  };
}

function scopeJson({ merchantId, endpointId, only, since, until, types }: ReplayScope) {
  return { merchantId, endpointId, only, since: timestamp(since), until: timestamp(until), types };
}
