import { setMaxListeners } from 'node:events';
import { Counter, type Registry } from 'prom-client';
import type { Broker } from '../broker/broker.ts';
import { cancelReason } from '../domain/outcome.ts';
import type { ReplayCancelReason } from '../domain/replay.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import { pollUntil } from '../process/poll-until.ts';
import type { ReplayRecord } from '../store/replays.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Outage } from '../telemetry/outage.ts';
import { missedPage } from './missed-page.ts';
import { REPLAY_PACE, type ReplayPace, ReplayTurns } from './turns.ts';

/** How often the store is checked for replays that another process started, while none runs. */
const LOOK_MS = 1000;
/** The pause after a failure: the store or the broker is not reachable. */
const FAILED_PAUSE_MS = 2000;
/** The longest wait at a start for the earlier process's journal: once recorded, its deliveries are not sent again. */
const RECORDED_MS_MAX = 10_000;
const RECORDED_POLL_MS = 100;

export interface ReplayerDeps {
  readonly store: Pick<Store, 'replays' | 'endpoints' | 'merchants' | 'log'>;
  readonly broker: Pick<Broker, 'publishTasks' | 'status'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts the deliveries made; see replayedDeliveries. */
  readonly made: Counter;
  readonly pace?: Partial<ReplayPace>;
}

/** Registers the metric of what replays made, which outlives each Replayer. */
export function replayedDeliveries(registry: Registry): Counter {
  return new Counter({
    name: 'hookrail_replayed_deliveries_total',
    help: 'Deliveries made by replays.',
    registers: [registry],
  });
}

/**
 * Sends the events of replays: one page of one replay at a time, the replays in turn, so that none holds up the rest. A
 * page is published, then the replay's place is stored; so a crash repeats one page, whose ids are the same. turns.ts
 * sets the pace: never faster than the deliveries are attempted.
 */
export class Replayer {
  readonly #deps: ReplayerDeps;
  readonly #pace: ReplayPace;
  readonly #turns: ReplayTurns;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #stopListening: () => void;
  /** The store does not tell which replays run: there may be none. */
  readonly #reading: Outage;
  #isWoken = false;
  #wake = () => {};

  /** Starts at once: replays that an earlier process left unfinished continue. */
  constructor(deps: ReplayerDeps) {
    this.#deps = deps;
    this.#pace = { ...REPLAY_PACE, ...deps.pace };
    this.#turns = new ReplayTurns(this.#pace);
    const { log } = deps;
    this.#reading = new Outage(
      (error) =>
        log.warn(
          { event: 'replays_unreadable', reason: messageOf(error) },
          'the replays cannot be read from the store, will try again; those that run stand still',
        ),
      () => log.info({ event: 'replays_readable' }, 'the replays are read from the store again'),
    );
    // One listener for each delivery in progress, whose number turns.ts bounds.
    setMaxListeners(0, this.#stopping.signal);
    this.#stopListening = deps.store.replays.onAdded(() => this.#wakeUp());
    this.#running = this.#run();
  }

  /** Waits for a page that is being published. May be called twice. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopListening();
    this.#wakeUp();
    await this.#running;
  }

  async #run(): Promise<void> {
    await this.#journalRecorded();
    while (!this.#stopping.signal.aborted) {
      this.#isWoken = false;
      let waitMs = FAILED_PAUSE_MS;
      try {
        waitMs = await this.#turn();
      } catch (error) {
        this.#reading.failed(error);
      }
      await this.#rest(waitMs);
    }
  }

  /**
   * Takes one step of the replay whose turn it is. Returns how long to wait before the next, unless woken,
   * milliseconds.
   */
  async #turn(): Promise<number> {
    const { store, clock } = this.#deps;
    const running = await store.replays.running();
    this.#reading.succeeded();
    this.#turns.keep(running);
    if (running.length === 0) return LOOK_MS;
    const now = clock.now();
    const turn = this.#turns.next(running, now);
    if (turn.kind === 'wait') return turn.ms;
    const { replay } = turn;
    try {
      if (turn.kind === 'finish') await this.#finish(replay, 'completed', null);
      else await this.#page(replay);
    } catch (error) {
      this.#turns.pause(replay, now + FAILED_PAUSE_MS);
      this.#failed(error, replay);
    }
    return 0;
  }

  async #page(replay: ReplayRecord): Promise<void> {
    const { store, broker, clock } = this.#deps;
    if (!(await this.#mayGoOn(replay))) return;
    const { tasks, leftOut, next, isLast } = await missedPage(
      store,
      replay,
      this.#pace.pageEvents,
      Math.floor(clock.wall()),
    );
    await broker.publishTasks(tasks);
    this.#deps.made.inc(tasks.length);
    this.#turns.published(replay, tasks.length, clock.now());
    for (const { task } of tasks) this.#follow(replay, task.deliveryId);
    const step = { from: replay.place, place: next, published: tasks.length, leftOut };
    const goesOn = await store.replays.advance(replay.replayId, step);
    if (goesOn && isLast) this.#turns.through(replay);
  }

  /**
   * Returns whether a replay may continue. One of one endpoint waits until every sender knows that it is active, and
   * ends when it no longer is.
   */
  async #mayGoOn(replay: ReplayRecord): Promise<boolean> {
    const { merchantId, endpointId, place } = replay;
    if (merchantId === null || endpointId === null) return true;
    const endpoint = await this.#deps.store.endpoints.get(merchantId, endpointId);
    const refusal = cancelReason(endpoint);
    if (refusal !== null) await this.#finish(replay, 'cancelled', refusal);
    if (!endpoint || refusal !== null) return false;
    const changedMsAgo = this.#deps.clock.wall() - endpoint.updatedAt;
    // Below 0: the machine's clock was set back since. Then there is no wait.
    const isKnown = changedMsAgo < 0 || changedMsAgo >= this.#pace.afterChangeMs;
    if (place !== null || isKnown) return true;
    this.#turns.pause(replay, this.#deps.clock.now() + this.#pace.afterChangeMs - changedMsAgo);
    return false;
  }

  /** The delivery counts as in progress until its first attempt is recorded, or it was cancelled. */
  #follow(replay: ReplayRecord, deliveryId: string): void {
    const attempted = this.#deps.store.log.waitForAttempt(deliveryId, this.#stopping.signal);
    const done = () => {
      if (this.#turns.attempted(replay)) this.#wakeUp();
    };
    attempted.then(done, done);
  }

  async #finish(
    replay: ReplayRecord,
    status: 'completed' | 'cancelled',
    reason: ReplayCancelReason | null,
  ): Promise<void> {
    const { store, clock, log } = this.#deps;
    const end = { status, reason, at: clock.wall(), actor: { kind: 'system' } } as const;
    const ended = await store.replays.finish(replay.replayId, end);
    if (!ended) return;
    const { replayId: replay_id, count, published, leftOut: left_out } = ended;
    log.info({ event: 'replay_ended', replay_id, status, reason, count, published, left_out });
  }

  #failed(error: unknown, { replayId: replay_id }: ReplayRecord): void {
    const reason = messageOf(error);
    this.#deps.log.warn(
      { event: 'replay_failed', replay_id, reason },
      'a replay’s page failed, will try again',
    );
  }

  async #journalRecorded(): Promise<void> {
    const { broker, clock } = this.#deps;
    const limits = { everyMs: RECORDED_POLL_MS, atMostMs: RECORDED_MS_MAX, signal: this.#stopping.signal };
    await pollUntil(clock, () => broker.status().backlog.journal === 0, limits);
  }

  async #rest(ms: number): Promise<void> {
    if (this.#isWoken || ms === 0) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#deps.clock.sleep(ms, woken.signal);
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }
}
