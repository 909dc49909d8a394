import type { ReplayRecord } from '../store/replays.ts';

/** The pace of replays. All limits are per process. */
export interface ReplayPace {
  /** Deliveries a second, over all replays. */
  readonly perSecondMax: number;
  /** The pause between an endpoint's last change and a replay's start. */
  readonly afterChangeMs: number;
  /** Events of one page. */
  readonly pageEvents: number;
  /** A replay with this many deliveries not attempted yet waits. */
  readonly underWayMax: number;
  /** The longest wait of a replay over many endpoints for one page: an endpoint may never respond. */
  readonly patienceMs: number;
  /** The most deliveries in progress even then. */
  readonly patientUnderWayMax: number;
  /** The longest wait of a replay that has sent everything for the last attempts, before it counts as completed. */
  readonly lingerMs: number;
}

export const REPLAY_PACE = {
  perSecondMax: 500,
  afterChangeMs: 2000,
  pageEvents: 50,
  underWayMax: 50,
  patienceMs: 5000,
  patientUnderWayMax: 10_000,
  lingerMs: 30_000,
} as const satisfies ReplayPace;

const LOOK_AGAIN_MS = 1000;

interface Progress {
  /** Deliveries published here but not attempted yet. */
  underWay: number;
  lastPageAt: number;
  /** Everything was published. */
  isThrough: boolean;
  /** The earliest next turn, after a failure. */
  pausedUntil: number;
}

export type ReplayStep =
  | { readonly kind: 'page' | 'finish'; readonly replay: ReplayRecord }
  /** Milliseconds until the next check. */
  | { readonly kind: 'wait'; readonly ms: number };

/**
 * Chooses the next of the running replays: each in turn, none faster than its deliveries are attempted, all together no
 * faster than the pace. So neither a huge replay of a merchant nor that of a dead endpoint holds up the others, and no
 * backlog builds up in the stream. Only deliveries published here are counted: after a restart the counts start at
 * zero.
 */
export class ReplayTurns {
  readonly #pace: ReplayPace;
  readonly #progress = new Map<string, Progress>();
  /** The replay that had the last turn. */
  #last = '';
  #nextPageAt = 0;

  constructor(pace: ReplayPace) {
    this.#pace = pace;
  }

  /** Forgets the replays that have ended. */
  keep(running: readonly ReplayRecord[]): void {
    const ids = new Set(running.map(({ replayId }) => replayId));
    for (const id of this.#progress.keys()) if (!ids.has(id)) this.#progress.delete(id);
  }

  /** Returns the next turn. `running` must not be empty. */
  next(running: readonly ReplayRecord[], now: number): ReplayStep {
    const start = 1 + running.findIndex(({ replayId }) => replayId === this.#last);
    for (let i = 0; i < running.length; i += 1) {
      const replay = running[(start + i) % running.length];
      const kind = replay && this.#ready(replay, now);
      if (!replay || !kind) continue;
      if (kind === 'page' && now < this.#nextPageAt) return { kind: 'wait', ms: this.#nextPageAt - now };
      this.#last = replay.replayId;
      return { kind, replay };
    }
    return { kind: 'wait', ms: LOOK_AGAIN_MS };
  }

  published(replay: ReplayRecord, count: number, at: number): void {
    const progress = this.#of(replay);
    progress.underWay += count;
    progress.lastPageAt = at;
    this.#nextPageAt = at + (count * 1000) / this.#pace.perSecondMax;
  }

  /** The last page was published, and that is stored. */
  through(replay: ReplayRecord): void {
    this.#of(replay).isThrough = true;
  }

  /** One delivery was attempted. Returns true when that makes a turn possible. */
  attempted(replay: ReplayRecord): boolean {
    const progress = this.#progress.get(replay.replayId);
    if (!progress) return false;
    progress.underWay -= 1;
    return progress.underWay === this.#pace.underWayMax - 1 || progress.underWay === 0;
  }

  pause(replay: ReplayRecord, until: number): void {
    this.#of(replay).pausedUntil = until;
  }

  #ready(replay: ReplayRecord, now: number): 'page' | 'finish' | null {
    const { underWay, lastPageAt, isThrough, pausedUntil } = this.#of(replay);
    const { underWayMax, patienceMs, patientUnderWayMax, lingerMs } = this.#pace;
    if (now < pausedUntil) return null;
    if (isThrough) return underWay === 0 || now >= lastPageAt + lingerMs ? 'finish' : null;
    if (underWay < underWayMax) return 'page';
    const isImpatient = replay.endpointId === null && now >= lastPageAt + patienceMs;
    return isImpatient && underWay < patientUnderWayMax ? 'page' : null;
  }

  #of({ replayId }: ReplayRecord): Progress {
    const known = this.#progress.get(replayId);
    if (known) return known;
    const fresh = { underWay: 0, lastPageAt: 0, isThrough: false, pausedUntil: 0 };
    this.#progress.set(replayId, fresh);
    return fresh;
  }
}
