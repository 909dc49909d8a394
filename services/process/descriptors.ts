import { closeSync, openSync, readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from './clock.ts';

const LOOK_MS = 500;
/**
 * Descriptors kept in reserve and released when no other is left, so that requests and log files can still be opened.
 */
const RESERVE = 16;
/** Descriptors kept for databases, threads and libraries. */
const OTHER_USES = 64;

/**
 * Returns how many files and connections this process may have open; infinite where the system does not report a limit.
 */
function openFilesMax(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Returns how many connections a server may accept: at most `wanted`, and a third of the files the process may open.
 */
export function acceptedMax(wanted: number): number {
  return Math.min(wanted, Math.max(RESERVE, Math.floor((openFilesMax() - OTHER_USES) / 3)));
}

/**
 * Notices when this process runs out of file descriptors, and when it has some again, and reports both in the log, in
 * a metric and to readiness. Meanwhile connections are held back where possible: see `isShort`.
 */
export class Descriptors {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #limit = openFilesMax();
  #reserve: number[] = [];
  #isShort = false;
  #cancel = () => {};

  constructor(deps: { readonly clock: Clock; readonly log: Logger; readonly registry: Registry }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    const isShort = () => Number(this.#isShort);
    new Gauge({
      name: 'hookrail_file_descriptors_used_up',
      help: '1 while this process has no file descriptor left.',
      registers: [deps.registry],
      collect() {
        this.set(isShort());
      },
    });
    this.#look();
  }

  get isShort(): boolean {
    return this.#isShort;
  }

  /** Why this process is not ready; null when it has descriptors left. */
  get shortage(): string | null {
    if (!this.#isShort) return null;
    return `all ${this.#limit} file descriptors are in use: raise the limit (ulimit -n, LimitNOFILE=, --ulimit nofile=)`;
  }

  stop(): void {
    this.#cancel();
    this.#giveUpReserve();
  }

  #look(): void {
    const isShort = !this.#hasReserve();
    if (isShort) this.#giveUpReserve();
    if (isShort !== this.#isShort) {
      this.#isShort = isShort;
      if (isShort)
        this.#log.error({ event: 'file_descriptors_used_up', limit: this.#limit }, this.shortage ?? '');
      else this.#log.warn({ event: 'file_descriptors_free' }, 'file descriptors are available again');
    }
    this.#cancel = this.#clock.at(this.#clock.now() + LOOK_MS, () => this.#look());
  }

  /** Returns whether the reserve is held and one more descriptor can be opened. */
  #hasReserve(): boolean {
    try {
      while (this.#reserve.length < RESERVE) this.#reserve.push(openSync('/dev/null', 'r'));
      closeSync(openSync('/dev/null', 'r'));
      return true;
    } catch {
      return false;
    }
  }

  #giveUpReserve(): void {
    for (const descriptor of this.#reserve.splice(0)) closeSync(descriptor);
  }
}
