import { Counter, Gauge, type Registry } from 'prom-client';
import { FAILURE_CODES } from '../domain/attempt.ts';
import { ATTEMPTS_MAX, type Tier } from '../domain/retry.ts';
import type { DeliveryTask, ParkedReason } from '../domain/task.ts';
import { PlainHistogram } from '../telemetry/plain-histogram.ts';
import type { DeliverResult } from './deliver.ts';

const DELIVERY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3600, 86_400];
const ATTEMPT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];
const LATENESS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600];

interface InFlight {
  readonly fast: number;
  readonly slow: number;
  readonly waiting: number;
}

/** The sender's metrics. No label ever holds an id: their number must not grow with merchants. */
export class SenderMetrics {
  /** Attempts by result, then by attempt number, not yet added to the counter. */
  readonly #attempts = new Map<string, number[]>();
  readonly #parked: Counter<'reason' | 'tier'>;
  readonly #deliverySeconds: PlainHistogram;
  readonly #attemptSeconds: PlainHistogram;
  readonly #lateness: PlainHistogram;
  readonly #early: Counter;
  readonly #deadLetters: Counter<'reason'>;
  readonly #cancelled: Counter<'reason'>;
  readonly #blocked: Counter<'reason'>;

  /** `inFlight` and `demoted` are read at each scrape. */
  constructor(registry: Registry, inFlight: () => InFlight, demoted: () => number) {
    const registers = [registry];
    const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name: `hookrail_${name}`, help, labelNames, registers });
    const histogram = (name: string, help: string, buckets: number[]) =>
      new PlainHistogram(registry, `hookrail_${name}`, help, buckets);
    for (const result of [DELIVERED, ...FAILURE_CODES]) {
      this.#attempts.set(
        result,
        Array.from({ length: ATTEMPTS_MAX + 1 }, () => 0),
      );
    }
    const attempts: Counter<'result' | 'attempt'> = new Counter({
      name: 'hookrail_attempts_total',
      help: 'Attempts made, by result and attempt number.',
      labelNames: ['result', 'attempt'],
      registers,
      collect: () => this.#tell(attempts),
    });
    this.#parked = counter(
      'parked_total',
      'Tasks put back without counting an attempt, by reason and the tier they wait on, seconds.',
      'reason',
      'tier',
    );
    this.#deliverySeconds = histogram(
      'delivery_seconds',
      'From accepting an event to its 2xx.',
      DELIVERY_SECONDS,
    );
    this.#attemptSeconds = histogram('attempt_seconds', 'Duration of one attempt.', ATTEMPT_SECONDS);
    this.#lateness = histogram('retry_lateness_seconds', 'How late retries start.', LATENESS_SECONDS);
    this.#early = counter('early_retries_total', 'Retries handed over before they were due. Must stay 0.');
    this.#deadLetters = counter(
      'dead_letters_total',
      'Deliveries given up after their last attempt.',
      'reason',
    );
    this.#cancelled = counter('cancelled_total', 'Deliveries given up before an attempt.', 'reason');
    this.#blocked = counter('egress_blocked_total', 'Connections the address guard refused.', 'reason');
    new Gauge({
      name: 'hookrail_in_flight',
      help: 'Tasks held by this sender, by lane.',
      labelNames: ['lane'],
      registers,
      collect() {
        for (const [lane, count] of Object.entries(inFlight())) this.labels(lane).set(count);
      },
    });
    new Counter({
      name: 'hookrail_demotions_total',
      help: 'Attempts that left the fast lane while in flight.',
      registers,
      collect() {
        this.reset();
        this.inc(demoted());
      },
    });
  }

  early(): void {
    this.#early.inc();
  }

  parked(reason: ParkedReason, tier: Tier): void {
    this.#parked.inc({ reason, tier });
  }

  /** Counts the result of a task. */
  settled(task: DeliveryTask, delivery: DeliverResult): void {
    if (delivery.kind === 'cancelled') this.#cancelled.inc({ reason: delivery.reason });
    if (delivery.kind !== 'attempted') return;
    const { attempted, lateMs, posted, settlement } = delivery;
    const counts = this.#attempts.get(attempted.failureCode ?? DELIVERED);
    if (counts) counts[task.attempt] = (counts[task.attempt] ?? 0) + 1;
    this.#attemptSeconds.observe(attempted.durationMs / 1000);
    if (attempted.outcome.kind === 'delivered') {
      const endedAt = attempted.startedAt + attempted.durationMs;
      this.#deliverySeconds.observe(Math.max(0, endedAt - task.acceptedAt) / 1000);
    }
    // A parked task is late on purpose.
    if (task.attempt > 1 && task.hop === 0) {
      this.#lateness.observe(Math.max(0, lateMs) / 1000);
    }
    if (settlement.kind === 'settled' && settlement.dead)
      this.#deadLetters.inc({ reason: settlement.dead.reason });
    if (posted.blockedBy !== null) this.#blocked.inc({ reason: posted.blockedBy });
  }

  /**
   * Exports the counts. Adding to an array is cheaper than finding a label's counter, which is done at each scrape
   * only.
   */
  #tell(attempts: Counter<'result' | 'attempt'>): void {
    for (const [result, counts] of this.#attempts) {
      for (const [attempt, count] of counts.entries()) {
        if (count > 0) attempts.inc({ result, attempt }, count);
      }
      counts.fill(0);
    }
  }
}

const DELIVERED = 'delivered';
