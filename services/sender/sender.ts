import type { Tracer } from '@opentelemetry/api';
import type { Registry } from 'prom-client';
import type { Broker, Settlement } from '../broker/broker.ts';
import type { Directory } from '../domain/directory.ts';
import { parkTask } from '../domain/parking.ts';
import type { Tier } from '../domain/retry.ts';
import type { Culprits } from '../domain/stalls/stall.ts';
import { type DeliveryTask, type ParkedReason, TASK_CLASSES, type TaskClass } from '../domain/task.ts';
import type { KeyRing } from '../keys/keyring.ts';
import type { Clock } from '../process/clock.ts';
import { infoLines, type Logger } from '../telemetry/logger.ts';
import type { Activity } from '../watchdog/activity.ts';
import { attemptLine } from './attempt-line.ts';
import { resultOf, resultOfStatus } from './attempt-result.ts';
import { traceAttempt } from './attempt-span.ts';
import { Blame } from './blame/blame.ts';
import { type DeliverDeps, type DeliverResult, deliver } from './deliver.ts';
import type { Answer } from './http/pace.ts';
import type { Transport } from './http/transport.ts';
import { Intake } from './intake.ts';
import { IN_FLIGHT_SHARE, laneOptions, share } from './lane-budgets.ts';
import type { LaneOptions } from './lanes/lane-options.ts';
import { Lanes } from './lanes/lanes.ts';
import { Paces } from './lanes/paces.ts';
import { ParkingLog } from './lanes/parking-log.ts';
import type { AttemptEnding } from './lanes/queued-task.ts';
import { SenderMetrics } from './metrics.ts';
import { NetworkWatch } from './network-watch.ts';
import { OwnFaults } from './own-faults.ts';
import { PendingTask, type PendingTaskOwner } from './pending-task.ts';
import { SecretOpener } from './secret-opener.ts';

export interface SenderOptions {
  /** Live tasks held at a time, waiting ones included. */
  readonly inFlightMax: number;
  readonly lanes?: Partial<LaneOptions>;
}

export interface SenderDeps {
  readonly broker: Pick<Broker, 'tasks'>;
  readonly directory: Directory;
  /** Returns whether the directory is fresh enough to send by. While it is not, nothing is sent. */
  readonly ready: () => boolean;
  readonly keyRing: KeyRing;
  /** Names the signing keys of the platform that are this service's. */
  readonly environment: string;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly retryScale: number;
  readonly options: SenderOptions;
  readonly log: Logger;
  readonly registry: Registry;
  /** Null or absent: no spans. */
  readonly tracer?: Tracer | null;
  readonly culprits?: Culprits;
  readonly activity?: Activity;
}

export interface Sender {
  /**
   * Takes no more tasks, gives back waiting ones and finishes those in flight; those unfinished shortly before the
   * deadline are interrupted and given back. May be called twice.
   */
  stop(deadlineMs: number): Promise<void>;
  inFlight(): { readonly fast: number; readonly slow: number; readonly waiting: number };
}

/** The interval of readiness checks while the sender is not ready. */
const READY_CHECK_MS = 100;
/** The part of a stop's deadline reserved for making interrupted tasks durable. */
const SETTLE_SHARE = 0.25;
const SETTLE_MS_MAX = 2000;

/** Starts sending: tests first, then live deliveries, then replays. Rejects when the broker cannot be consumed. */
export async function startSender(deps: SenderDeps): Promise<Sender> {
  const sender = new RunningSender(deps);
  await sender.start();
  return sender;
}

class RunningSender implements Sender, PendingTaskOwner {
  readonly blame: Blame;
  readonly #deps: SenderDeps;
  readonly #deliverDeps: DeliverDeps;
  readonly #lanes: Readonly<Record<TaskClass, Lanes>>;
  readonly #metrics: SenderMetrics;
  /** Null: the log has no lines of attempts. */
  readonly #attempts: ReturnType<typeof infoLines>;
  readonly #parkingLog: ParkingLog;
  readonly #intakes: Intake[] = [];
  #isStopping = false;
  #stopped: Promise<void> | null = null;
  #readyAgain: Promise<void> | null = null;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.blame = deps.transport.blame ?? new Blame(deps.clock);
    this.#attempts = infoLines(deps.log);
    this.#parkingLog = new ParkingLog(deps.clock, deps.log, deps.retryScale);
    const opener = new SecretOpener(deps.keyRing, deps.log);
    this.#deliverDeps = {
      directory: deps.directory,
      open: (endpoint, signedWith) => opener.open(endpoint, signedWith),
      platformKey: (at) => opener.platformKey(deps.environment, at),
      transport: deps.transport,
      network: new NetworkWatch(),
      ownFaults: new OwnFaults(deps.clock, deps.log),
      clock: deps.clock,
      retryScale: deps.retryScale,
      culprits: deps.culprits,
      activity: deps.activity,
    };
    const paces = new Paces(deps.clock, deps.directory.rates);
    const lanes = (taskClass: TaskClass) => {
      const source = deps.broker.tasks[taskClass];
      const wake = source.wake?.bind(source) ?? null;
      const of = { wake, paces, taskClass };
      return new Lanes(deps.clock, this.blame, laneOptions(deps, IN_FLIGHT_SHARE[taskClass]), of);
    };
    this.#lanes = { live: lanes('live'), test: lanes('test'), replay: lanes('replay') };
    this.#metrics = new SenderMetrics(
      deps.registry,
      () => this.inFlight(),
      () => this.#sum('demoted'),
    );
  }

  async start(): Promise<void> {
    for (const taskClass of ['test', 'live', 'replay'] as const satisfies readonly TaskClass[]) {
      const inFlightMax = share(this.#deps.options.inFlightMax, IN_FLIGHT_SHARE[taskClass]);
      const source = this.#deps.broker.tasks[taskClass];
      const lanes = this.#lanes[taskClass];
      lanes.onFewerWaiting = () => this.#adjustIntakes();
      let isWatched = false;
      const consumer = await source.consume(
        (task, signal, ownership) => {
          // One signal for all calls: the broker may stop before this sender is asked to.
          if (!isWatched) signal.addEventListener('abort', () => this.#release(taskClass), { once: true });
          isWatched = true;
          return this.#handle({ task, lanes, signal, ownership });
        },
        { inFlightMax, inline: { isPrompt: ({ endpointId }) => lanes.isPrompt(endpointId) } },
      );
      this.#intakes.push(new Intake(lanes, consumer));
    }
  }

  inFlight(): { fast: number; slow: number; waiting: number } {
    return { fast: this.#sum('fast'), slow: this.#sum('slow'), waiting: this.#sum('waiting') };
  }

  stop(deadlineMs: number): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMs);
    return this.#stopped;
  }

  async #stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    const { clock, transport, log } = this.#deps;
    const kept = Math.min(SETTLE_MS_MAX, deadlineMs * SETTLE_SHARE);
    const disarm = clock.at(clock.now() + deadlineMs - kept, () => transport.interrupt());
    const stops = this.#intakes.map((intake) => intake.stop(deadlineMs));
    for (const taskClass of TASK_CLASSES) this.#release(taskClass);
    const ends = await Promise.all(stops);
    disarm();
    this.blame.stop();
    if (ends.includes('abandoned'))
      log.warn('sender stopped with unsettled tasks; they will be delivered again');
  }

  #handle(
    on: Pick<PendingTask, 'task' | 'lanes' | 'signal' | 'ownership'>,
  ): Settlement | Promise<Settlement> {
    if (this.#isStopping || on.signal.aborted) return RELEASED;
    this.blame.watch(this.#hasWork);
    return new Promise((settle, fail) => {
      on.lanes.admit(new PendingTask(on, this, settle, fail));
      this.#adjustIntakes();
    });
  }

  attempt(pending: PendingTask): void {
    const { task, ownership } = pending;
    const mayGo = this.#deps.ready() && this.#deps.clock.now() >= task.dueAt && ownership() === 'owned';
    if (mayGo) deliver(task, this.#deliverDeps, pending, pending);
    else {
      this.#mayGoLater(pending).then(
        (mayGo) => {
          if (mayGo) deliver(task, this.#deliverDeps, pending, pending);
          else this.made(pending, INTERRUPTED);
        },
        (error: unknown) => this.failed(pending, error),
      );
    }
  }

  failed(pending: PendingTask, error: unknown): void {
    pending.lanes.settle(pending, 'uncounted', null);
    this.#adjustIntakes();
    pending.fail(error);
  }

  answered(pending: PendingTask, answer: Answer): void {
    settleInLanes(pending, resultOfStatus(answer.status), answer);
    this.#adjustIntakes();
  }

  park({ task }: PendingTask, tier: Tier, reason: ParkedReason): Settlement {
    const { clock, retryScale } = this.#deps;
    this.#parked(task, tier, reason);
    this.#adjustIntakes();
    return parkTask(task, tier, reason, { now: clock.wall(), retryScale });
  }

  #parked(task: DeliveryTask, tier: Tier, reason: ParkedReason): void {
    this.#metrics.parked(reason, tier);
    this.#parkingLog.parked(task, tier, reason);
  }

  #adjustIntakes(): void {
    for (const intake of this.#intakes) intake.adjust();
  }

  /**
   * Holds the attempt until it is due, the directory is fresh and the task is certainly owned here. Resolves with whether
   * it is to be made.
   */
  async #mayGoLater(pending: PendingTask): Promise<boolean> {
    const { task, signal, ownership, time } = pending;
    const { clock } = this.#deps;
    time.held();
    const ready = () => this.#deps.ready() && ownership() === 'owned';
    if (clock.now() < task.dueAt) {
      this.#metrics.early();
      await clock.sleep(task.dueAt - clock.now(), signal);
    }
    while (!ready() && ownership() !== 'lost' && !this.#isStopping && !signal.aborted) {
      // All waiting tasks share one timer.
      this.#readyAgain ??= clock.sleep(READY_CHECK_MS, signal).finally(() => {
        this.#readyAgain = null;
      });
      await this.#readyAgain;
    }
    if (!ready() || clock.now() < task.dueAt) return false;
    time.goesOn();
    return true;
  }

  made(pending: PendingTask, delivery: DeliverResult): void {
    const { task, lanes } = pending;
    const { tracer } = this.#deps;
    let { settlement } = delivery;
    if (delivery.kind === 'attempted') {
      settleInLanes(pending, resultOf(delivery.posted.exchange), delivery.posted);
      const { clock } = this.#deps;
      this.#attempts?.write(attemptLine(task, delivery, clock.system(clock.wall())));
      if (tracer) settlement = traceAttempt(tracer, task, delivery);
    } else {
      lanes.settle(pending, 'uncounted', null);
    }
    this.#adjustIntakes();
    if (delivery.kind === 'parked') this.#parked(task, delivery.tier, delivery.why);
    if (delivery.kind === 'aside') this.#putAside(task, delivery.aside.detail);
    this.#metrics.settled(task, delivery);
    pending.settle(settlement);
  }

  #putAside({ deliveryId, endpointId, merchantId }: DeliveryTask, detail: string): void {
    const ids = { delivery: deliveryId, endpoint: endpointId, merchant: merchantId };
    this.#deps.log.error({ event: 'task_put_aside', ...ids, detail }, 'a task was put into quarantine');
  }

  #release(taskClass: TaskClass): void {
    for (const pending of this.#lanes[taskClass].releaseWaiting()) {
      if (pending instanceof PendingTask) pending.settle(RELEASED);
    }
  }

  readonly #hasWork = (): boolean => {
    const { fast, slow, waiting } = this.inFlight();
    return fast + slow + waiting > 0;
  };

  #sum(count: 'fast' | 'slow' | 'waiting' | 'demoted'): number {
    return TASK_CLASSES.reduce((sum, taskClass) => sum + this.#lanes[taskClass].counts[count], 0);
  }
}

/** Tells the lanes the result of an attempt; ignored when they know it already. */
function settleInLanes(
  pending: PendingTask,
  result: AttemptEnding,
  { retryAfterSeconds, receiverMs }: Pick<Answer, 'retryAfterSeconds' | 'receiverMs'>,
): void {
  const seconds = result === 'success' ? null : retryAfterSeconds;
  pending.lanes.settle(pending, result, seconds === null ? null : seconds * 1000, receiverMs);
}

const RELEASED: Settlement = { kind: 'released' };
const INTERRUPTED: DeliverResult = { kind: 'interrupted', settlement: RELEASED };
