import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import { REPLAY_KINDS } from '../domain/replay.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { ReplayRecord, ReplayScope } from '../store/replays.ts';
import type { Store } from '../store/store.ts';
import { timestamp, timestampOrNull } from './endpoint-json.ts';
import { type Arguments, OperatorError } from './operator-commands.ts';
import { countMissed } from './replays/missed-page.ts';

/** What an operator does after an incident: the merchants' replays, and replays over all endpoints. */

export interface ReplayCommandDeps {
  readonly store: Pick<Store, 'replays' | 'endpoints' | 'merchants' | 'log'>;
  readonly clock: Clock;
  readonly random: Random;
}
type Command = (deps: ReplayCommandDeps, given: Arguments) => Promise<unknown>;

const LIST_DEFAULT = 50;
const LIST_MAX = 1000;
const OPERATOR = { kind: 'operator' } as const;

const COMMANDS = {
  'replay-start': start,
  'replay-list': async ({ store }, { limit = LIST_DEFAULT }) => {
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > LIST_MAX) {
      throw new OperatorError(`limit: must be a whole number from 1 to ${LIST_MAX}`);
    }
    return (await store.replays.list({ limit })).map(replayJson);
  },
  'replay-get': async ({ store }, given) => replayJson(await find(store, given)),
  'replay-cancel': async ({ store, clock }, given) => {
    const { replayId } = await find(store, given);
    const end = { status: 'cancelled', reason: 'operator', at: clock.now(), actor: OPERATOR } as const;
    const ended = await store.replays.finish(replayId, end);
    if (ended) return replayJson(ended);
    throw new OperatorError(`replay ${replayId} has ended already: see replay get`);
  },
} as const satisfies Record<string, Command>;

export type ReplayCommand = keyof typeof COMMANDS;

export function isReplayCommand(name: string): name is ReplayCommand {
  return Object.hasOwn(COMMANDS, name);
}

/** Runs one command. Throws OperatorError for what cannot be done. */
export function runReplayCommand(
  deps: ReplayCommandDeps,
  name: ReplayCommand,
  given: Arguments,
): Promise<unknown> {
  return COMMANDS[name](deps, given);
}

/** A replay over all active endpoints of one merchant, or of every merchant. With `dryRun` only counts. */
async function start({ store, clock, random }: ReplayCommandDeps, given: Arguments): Promise<unknown> {
  const at = Math.floor(clock.now());
  const scope = await scopeOf(store, given, at);
  const count = await countMissed(store, scope);
  if (given.dryRun === true) return { dryRun: true, count, ...scopeJson(scope) };
  const replay = { ...scope, replayId: random.uuid(), count };
  const created = await store.replays.create(replay, { at, actor: OPERATOR });
  if (created.kind === 'ok') return replayJson(created.record);
  throw new OperatorError(`replay ${created.replayId} is running: wait for its end, or use replay cancel`);
}

async function scopeOf(
  store: ReplayCommandDeps['store'],
  given: Arguments,
  now: number,
): Promise<ReplayScope> {
  const { merchant = null, only } = given;
  if (merchant !== null && (typeof merchant !== 'string' || !(await store.merchants.get(merchant)))) {
    throw new OperatorError(`there is no merchant ${merchant}: see merchants list`);
  }
  const kind = REPLAY_KINDS.find((known) => known === only);
  if (kind === undefined) throw new OperatorError(`only: must be one of ${REPLAY_KINDS.join(', ')}`);
  const since = timeOf(given, 'since');
  const until = given.until === undefined ? now : Math.min(now, timeOf(given, 'until'));
  if (since >= until) throw new OperatorError('since: must be before until, and in the past');
  return { merchantId: merchant, endpointId: null, only: kind, since, until, types: typesOf(given.type) };
}

function timeOf(given: Arguments, name: 'since' | 'until'): number {
  const text = given[name];
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new OperatorError(`${name}: a time such as 2025-03-01T10:20:00Z is needed`);
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

async function find(store: ReplayCommandDeps['store'], given: Arguments): Promise<ReplayRecord> {
  const replay = typeof given.id === 'string' ? await store.replays.get(given.id) : undefined;
  if (replay === undefined) throw new OperatorError(`there is no replay ${given.id}: see replay list`);
  return replay;
}

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
