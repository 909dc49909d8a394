import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { EVENT_TYPES } from '../../domain/event.ts';
import { REPLAY_KINDS } from '../../domain/replay.ts';
import { cancelReplay, findReplay, incidentScope, startIncidentReplay } from '../../management/replays.ts';
import { countMissed } from '../../replayer/count-missed.ts';
import type { ReplayRecord, ReplayScope } from '../../store/replays.ts';
import { type Arguments, type Given, timeOf } from './arguments.ts';
import { type OperatorDeps, on } from './command.ts';

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
    run: async (deps, { id }) => replayJson(await findReplay(deps, id)),
  }),
  'replay cancel': on('store', {
    describe: 'Stop a replay; deliveries that it made are not undone',
    args: ID,
    run: async (deps, { id }) => replayJson(await cancelReplay(deps, id)),
  }),
};

type Scope = Given<typeof SCOPE>;

/** Starts a replay over all active endpoints of one merchant, or of every merchant. With `dryRun` it only counts. */
async function start(deps: OperatorDeps, given: Scope & { readonly dryRun: boolean | undefined }) {
  const { merchant: merchantId = null, only, type: types = null } = given;
  const now = deps.clock.wall();
  const period = { since: timeOf(given.since, now), until: timeOf(given.until, now) };
  const scope = await incidentScope(deps, { merchantId, only, types, ...period });
  if (!given.dryRun) return replayJson(await startIncidentReplay(deps, scope, deps));
  const { count, byType, byReason } = await countMissed(deps.store, scope);
  return { dryRun: true, count, byType, byReason, ...scopeJson(scope) };
}

/**
 * The form for operators: camelCase, as every command prints, and with the merchant. REST has the merchants' form
 * (services/api/routes/replays.ts, services/api/platform/replays.ts): both are public, so neither can become the other.
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
