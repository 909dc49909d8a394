import type { EventType } from '../domain/event.ts';
import type { ReplayKind } from '../domain/replay.ts';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import { countMissed } from '../replayer/count-missed.ts';
import type { Actor, AnswerToStore } from '../store/change.ts';
import type { ReplayRecord, ReplayScope } from '../store/replays.ts';
import type { Store } from '../store/store.ts';
import { findOpenMerchant } from './merchants.ts';
import { Refused } from './refused.ts';

/** Replays: those after an incident, over all active endpoints, and the creation of any. */

interface Deps {
  readonly store: Pick<Store, 'merchants' | 'replays' | 'endpoints' | 'log'>;
  readonly clock: Pick<Clock, 'wall'>;
}

interface CreateDeps extends Deps {
  readonly random: Random;
}

/** The events of an incident. Times are milliseconds since the epoch. */
export interface Incident {
  /** Null: of every merchant. */
  readonly merchantId: string | null;
  readonly only: ReplayKind;
  readonly types: readonly EventType[] | null;
  readonly since: number;
  /** Undefined: until now. */
  readonly until: number | undefined;
}

/** Returns the scope of a replay after an incident: it ends now at the latest. Throws Refused. */
export async function incidentScope(
  { store, clock }: Deps,
  { merchantId, only, types, since, until }: Incident,
): Promise<ReplayScope> {
  const now = Math.floor(clock.wall());
  const end = Math.min(now, until ?? now);
  if (since >= end) throw new Refused('empty_period');
  if (merchantId !== null) await findOpenMerchant({ store }, merchantId);
  return { merchantId, endpointId: null, only, since, until: end, types, eventIds: null };
}

/** Counts and creates the replay after an incident. Throws Refused where one of the same merchants runs. */
export async function startIncidentReplay(
  deps: CreateDeps,
  scope: ReplayScope,
  options: Parameters<typeof createReplay>[2],
): Promise<ReplayRecord> {
  const created = await createReplay(deps, scope, options);
  if (created.kind === 'running') throw new Refused('incident_replay_running', created.replayId);
  return created.record;
}

/**
 * Counts the events of the scope and creates their replay, unless one of the same scope runs. `answer` returns what is
 * stored with it for a request that comes again.
 */
export async function createReplay(
  { store, clock, random }: CreateDeps,
  scope: ReplayScope,
  {
    actor,
    answer,
  }: { readonly actor: Actor; readonly answer?: (replay: ReplayRecord) => AnswerToStore | undefined },
): ReturnType<Store['replays']['create']> {
  const at = Math.floor(clock.wall());
  const { count } = await countMissed(store, scope);
  const replay = { ...scope, replayId: random.uuid(), count };
  const fresh = { status: 'running', cancelReason: null, published: 0, leftOut: 0, place: null } as const;
  const kept = answer?.({ ...replay, ...fresh, createdAt: at, finishedAt: null });
  return store.replays.create(replay, { at, actor, ...(kept ? { answer: kept } : {}) });
}

/** Returns a replay, a merchant's own included. Throws Refused. */
export async function findReplay(
  { store }: { readonly store: Pick<Store, 'replays'> },
  id: string,
): Promise<ReplayRecord> {
  const replay = await store.replays.get(id);
  if (replay === undefined) throw new Refused('incident_replay_not_found', id);
  return replay;
}

/** Stops a replay; deliveries that it made are not undone. Throws Refused when it has ended. */
export async function cancelReplay(
  { store, clock, actor }: Deps & { readonly actor: Actor },
  id: string,
): Promise<ReplayRecord> {
  const { replayId } = await findReplay({ store }, id);
  const end = { status: 'cancelled', reason: 'operator', at: clock.wall(), actor } as const;
  const ended = await store.replays.finish(replayId, end);
  if (ended === undefined) throw new Refused('replay_ended', replayId);
  return ended;
}
