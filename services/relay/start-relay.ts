import type { Follower } from '../broker/broker.ts';
import type { DirectoryChange } from '../domain/directory.ts';
import { errorLine } from '../messages/error-message.ts';
import { pollUntil } from '../process/poll-until.ts';
import type { Timeline } from '../store/outbox.ts';
import { Outage } from '../telemetry/outage.ts';
import type { PublishChecks } from './publishable.ts';
import { type ReconcileDeps, reconcile, untilPropagated } from './reconcile.ts';
import { Relay, type RelayDeps } from './relay.ts';

/** How often the store's timeline is checked. */
const LOOK_MS = 500;
/** How often the outbox is checked for changes of other processes: their callers wait for it. */
const OUTBOX_LOOK_MS = 100;
/** The longest wait for a proof that everything on the stream was read. */
const FRESH_MS_MAX = 30_000;
const POLL_MS = 20;
/**
 * After a failover, the relay of another process may still have changes on their way to the stream: it counts itself out
 * after 5 s, and a publish ends after 30 s. What arrived by then is reconciled once more.
 */
const LATE_MS = 60_000;

export interface StartRelayDeps extends RelayDeps, ReconcileDeps {
  /** Null or absent: records are taken as the store has them. */
  readonly checks?: PublishChecks | null;
  readonly follower: Pick<Follower, 'stalenessMs'>;
}

export interface RunningRelay {
  /** Waits for a running publish to end. */
  stop(): Promise<void>;
}

/**
 * Brings store and DIRECTORY stream into agreement, and starts the relay. Resolves when the stream has what it lacked, so
 * that no event is routed without it. Does so again whenever the store is on another timeline, which accepts no changes
 * until then:
 *
 * ```
 * relay runs ─ the store is on another timeline ─▶ relay stops ─▶ everything on the stream is read ─▶ reconciled
 *     ▲                                                                                                   │
 *     └──────────────────────────────────── the store accepts changes ◀───────────────────────────────────┘
 * ```
 */
export async function startRelay(deps: StartRelayDeps): Promise<RunningRelay> {
  const relay = new ReconciledRelay(deps);
  await relay.start();
  return relay;
}

class ReconciledRelay implements RunningRelay {
  readonly #deps: StartRelayDeps;
  readonly #stopping = new AbortController();
  #relay: Relay | null = null;
  #watching: Promise<void> = Promise.resolve();
  /** When to reconcile once more; see LATE_MS. */
  #lateAt = Number.POSITIVE_INFINITY;

  constructor(deps: StartRelayDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const timeline = await this.#deps.store.outbox.timeline();
    const lacking = await this.#reconcile(timeline);
    await untilPropagated(lacking, this.#deps);
    if (timeline) this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await this.#relay?.stop();
  }

  async #watch(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { signal } = this.#stopping;
    const outage = new Outage((error, timeline: string) => {
      log.error({ event: 'directory_not_reconciled', timeline, reason: errorLine(error) });
    });
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      // A store that is away says so itself.
      const timeline = await store.outbox.timeline().catch(() => null);
      const isLate = clock.now() >= this.#lateAt;
      if (timeline === null || (timeline.isReconciled && this.#relay !== null && !isLate)) continue;
      try {
        await this.#reconcile(timeline);
        outage.succeeded();
      } catch (error) {
        if (!signal.aborted) outage.failed(error, timeline.name);
      }
    }
  }

  /** Returns the changes that the stream lacks. */
  async #reconcile(timeline: Timeline | null): Promise<readonly DirectoryChange[]> {
    const { store, clock, log } = this.#deps;
    // Its last publish is part of what is read.
    await this.#relay?.stop();
    this.#relay = null;
    if (timeline) await this.#untilFresh();
    const lacking = await reconcile(this.#deps);
    this.#lateAt = Number.POSITIVE_INFINITY;
    if (timeline && !timeline.isReconciled) {
      await store.outbox.reconciled(timeline.name);
      this.#lateAt = clock.now() + LATE_MS;
      log.warn(
        { event: 'directory_reconciled', timeline: timeline.name },
        'the store was failed over or restored: it was reconciled with the directory stream, and accepts changes again',
      );
    }
    this.#relay = new Relay({ ...this.#deps, ...(timeline ? { lookMs: OUTBOX_LOOK_MS } : {}) });
    return lacking;
  }

  /** Resolves when everything is read that was on the stream at the call, from whichever process. */
  async #untilFresh(): Promise<void> {
    const { clock, follower } = this.#deps;
    const { signal } = this.#stopping;
    const since = clock.now();
    const isFresh = () => follower.stalenessMs() <= clock.now() - since;
    if (await pollUntil(clock, isFresh, { everyMs: POLL_MS, atMostMs: FRESH_MS_MAX, signal })) return;
    const seconds = FRESH_MS_MAX / 1000;
    throw new Error(
      `the directory stream was not read to its end within ${seconds} s, and without it the store cannot be reconciled`,
    );
  }
}
