import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OwnFault } from './http/connect-failure.ts';

/** The interval of log lines per fault. */
const LINE_EVERY_MS = 60_000;

const WORDS: Readonly<Record<OwnFault, string>> = {
  machine_limit:
    'attempts wait: no file descriptor or memory is left on this machine; raise its limits (ulimit -n)',
  egress_proxy: 'attempts wait: the egress proxy cannot be used; check it and HOOKRAIL_EGRESS_PROXY',
  origin_connections: 'attempts wait: all connections to an origin are in use by slow requests',
  network_down: "attempts wait: no receiver can be reached; check this machine's network and its DNS servers",
};

/**
 * Logs why attempts wait through our own fault: the first one at once, then at most a line a minute, with their
 * number.
 */
export class OwnFaults {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #seen = new Map<OwnFault, { loggedAt: number; count: number }>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `detail`: what failed; without secrets. */
  note(reason: OwnFault, detail: string, origin: string): void {
    const now = this.#clock.now();
    const seen = this.#seen.get(reason) ?? { loggedAt: Number.NEGATIVE_INFINITY, count: 0 };
    this.#seen.set(reason, seen);
    seen.count += 1;
    if (now - seen.loggedAt < LINE_EVERY_MS) return;
    this.#log.warn({ reason, attempts: seen.count, detail, origin }, WORDS[reason]);
    seen.loggedAt = now;
    seen.count = 0;
  }
}
