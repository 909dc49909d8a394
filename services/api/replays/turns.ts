import type { ReplayRecord } from '../../store/replays.ts';

/** How fast replays go. All per process. */
export interface ReplayPace {
  /** Deliveries a second, over all replays. */
  readonly perSecondMax: number;
  /** How long after its endpoint's last change a replay begins. */
  readonly afterChangeMs: number;
  /** Events of one page. */
  readonly pageEvents: number;
  /** A replay with so many deliveries that were not attempted yet waits. */
  readonly underWayMax: number;
  /** A replay over many endpoints waits no longer than this for one page: the endpoint may not answer at all. */
  readonly patienceMs: number;
  /** Even then no more than this are under way. */
  readonly patientUnderWayMax: number;
  /** How long a replay that has sent everything waits for the last attempts before it counts as completed. */
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
  /** Deliveries published here and not attempted yet. */
  underWay: number;
  lastPageAt: number;
  /** Everything was published. */
  isThrough: boolean;
  /** Not before: something failed. */
  pausedUntil: number;
}

export type Turn =
  | { readonly kind: 'page' | 'finish'; readonly replay: ReplayRecord }
  /** Milliseconds after which to look again. */
  | { readonly kind: 'wait'; readonly ms: number };

/**
 * Whose turn it is among the running replays: each in turn, none faster than its deliveries are attempted, all together no
 * faster than the pace. So neither a merchant's huge replay nor a dead endpoint's holds up the others, and no backlog
 * builds up in the stream. Only what was published here is known: after a restart the books start empty.
 */
export class Turns {
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

  /** `running` must not be empty. */
  next(running: readonly ReplayRecord[], now: number): Turn {
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

  /** One delivery was attempted. True when that makes a turn possible. */
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
