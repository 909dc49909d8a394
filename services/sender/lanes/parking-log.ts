import type { Tier } from '../../domain/retry.ts';
import type { DeliveryTask, ParkedReason } from '../../domain/task.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** The interval of an endpoint's log lines while its tasks are parked. */
const LINE_MS = 60_000;
/** Endpoints remembered; beyond that, lines repeat more often. */
const ENDPOINTS_MAX = 10_000;

/** Logs that tasks are parked: one line per endpoint and reason when it begins, and one a minute while it continues. */
export class ParkingLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #retryScale: number;
  readonly #lines = new Map<string, { readonly at: number; tasks: number }>();

  constructor(clock: Clock, log: Logger, retryScale: number) {
    this.#clock = clock;
    this.#log = log;
    this.#retryScale = retryScale;
  }

  parked(task: DeliveryTask, tier: Tier, reason: ParkedReason): void {
    const now = this.#clock.now();
    const key = `${task.endpointId} ${reason}`;
    const line = this.#lines.get(key);
    if (line && now - line.at < LINE_MS) {
      line.tasks += 1;
      return;
    }
    if (this.#lines.size >= ENDPOINTS_MAX) this.#lines.clear();
    this.#lines.set(key, { at: now, tasks: 0 });
    // A limit that its merchant has set is no trouble.
    this.#log[reason === 'rate_limited_here' ? 'info' : 'warn'](
      {
        endpoint: task.endpointId,
        merchant: task.merchantId,
        reason,
        delivery: task.deliveryId,
        tasks: (line?.tasks ?? 0) + 1,
        next_at: new Date(this.#clock.wall(now + (tier * 1000) / this.#retryScale)).toISOString(),
      },
      'tasks parked without an attempt; they come up again automatically',
    );
  }
}
