import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
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

/** Opens this many descriptors; returns those that it got before there was none left. */
function opened(wanted: number): number[] {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < wanted) descriptors.push(openSync('/dev/null', 'r'));
  } catch {
    // None is left, in this process or on the machine.
  }
  return descriptors;
}

function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor);
}

/** Tells users of file descriptors whether they may open one. */
export interface DescriptorWatch {
  /** Only the reserve is left, which is for requests and files: do not open a connection that can wait. */
  readonly isShort: boolean;
  /** Tries whether one is left, and notices a shortage at once. Call it when something failed that needs one. */
  isLeft(): boolean;
}

/** For a process that never runs out of them. */
export const ENOUGH_DESCRIPTORS: DescriptorWatch = { isShort: false, isLeft: () => true };

/**
 * Notices when this process runs out of file descriptors, and when it has some again, and reports both in the log, in
 * a metric and to readiness. Meanwhile connections are held back where possible: see `isShort`.
 */
export class Descriptors implements DescriptorWatch {
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

  isLeft(): boolean {
    const [one] = opened(1);
    if (one !== undefined) closeSync(one);
    else if (!this.#isShort) this.#look();
    return one !== undefined;
  }

  stop(): void {
    this.#cancel();
    this.#giveUpReserve();
  }

  #look(): void {
    this.#cancel();
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

  /** Returns whether the reserve is held and more can be opened. To end a shortage, as many again must be free. */
  #hasReserve(): boolean {
    this.#reserve.push(...opened(RESERVE - this.#reserve.length));
    const wanted = this.#isShort ? RESERVE : 1;
    const more = opened(wanted);
    closeAll(more);
    return this.#reserve.length === RESERVE && more.length === wanted;
  }

  #giveUpReserve(): void {
    closeAll(this.#reserve.splice(0));
  }
}
