import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import { REPLAY_KINDS } from '../../domain/replay.ts';
import { countMissed } from '../../replayer/count-missed.ts';
import type { ReplayRecord, ReplayScope } from '../../store/replays.ts';
import {
  type Arguments,
  type Command,
  limitOf,
  type OperatorDeps,
  OperatorError,
  timeOf,
} from './arguments.ts';

/** Commands after an incident: the merchants' replays, and replays over all endpoints. */

const LIST_DEFAULT = 50;
const LIST_MAX = 1000;

export const REPLAY_COMMANDS = {
  'replay-start': start,
  'replay-list': async ({ store }, given) => {
    const limit = limitOf(given, LIST_DEFAULT, LIST_MAX);
    return (await store.replays.list({ limit })).map(replayJson);
  },
  'replay-get': async ({ store }, given) => replayJson(await find(store, given)),
  'replay-cancel': async ({ store, clock, actor }, given) => {
    const { replayId } = await find(store, given);
    const end = { status: 'cancelled', reason: 'operator', at: clock.wall(), actor } as const;
    const ended = await store.replays.finish(replayId, end);
    if (ended) return replayJson(ended);
    throw new OperatorError(`replay ${replayId} has ended already: see replay get`);
  },
} as const satisfies Record<string, Command>;

/** Starts a replay over all active endpoints of one merchant, or of every merchant. With `dryRun` it only counts. */
async function start({ store, clock, random, actor }: OperatorDeps, given: Arguments): Promise<unknown> {
  const at = Math.floor(clock.wall());
  const scope = await scopeOf(store, given, at);
  const count = await countMissed(store, scope);
  if (given.dryRun === true) return { dryRun: true, count, ...scopeJson(scope) };
  const replay = { ...scope, replayId: random.uuid(), count };
  const created = await store.replays.create(replay, { at, actor });
  if (created.kind === 'ok') return replayJson(created.record);
  throw new OperatorError(`replay ${created.replayId} is running: wait for it to end, or use replay cancel`);
}

async function scopeOf(store: OperatorDeps['store'], given: Arguments, now: number): Promise<ReplayScope> {
  const { merchant = null, only } = given;
  if (merchant !== null && (typeof merchant !== 'string' || !(await store.merchants.get(merchant)))) {
    throw new OperatorError(`there is no merchant ${merchant}: see merchants list`);
  }
  const kind = REPLAY_KINDS.find((known) => known === only);
  if (kind === undefined) throw new OperatorError(`only: must be one of ${REPLAY_KINDS.join(', ')}`);
  const since = timeOf(given, 'since', now);
  if (since === undefined)
    throw new OperatorError('since: must be the start of the period, such as 2h or 2030-01-31T08:00:00Z');
  const until = Math.min(now, timeOf(given, 'until', now) ?? now);
  if (since >= until) throw new OperatorError('since: must be before until, and in the past');
  return { merchantId: merchant, endpointId: null, only: kind, since, until, types: typesOf(given.type) };
}

function typesOf(given: unknown): readonly EventType[] | null {
  if (given === undefined) return null;
  const named = Array.isArray(given) ? given : [given];
  return named.map((name) => {
    const type = EVENT_TYPES.find((known) => known === name);
    if (type === undefined) throw new OperatorError(`type: must be one of ${EVENT_TYPES.join(', ')}`);
    return type;
  });
}

async function find(store: OperatorDeps['store'], given: Arguments): Promise<ReplayRecord> {
  const replay = typeof given.id === 'string' ? await store.replays.get(given.id) : undefined;
  if (replay === undefined) throw new OperatorError(`there is no replay ${given.id}: see replay list`);
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
