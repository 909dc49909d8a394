import { errorLine } from '../../messages/error-message.ts';
import { growingPause } from '../../process/growing-pause.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { MissingRights, Reader } from './missing-rights.ts';

/** The longest pause: a granted permission is noticed within this and the time to join. */
const PAUSE_MS_MAX = 10_000;

export interface RestartsOptions extends Reader {
  readonly log: Logger;
  readonly rights?: MissingRights | undefined;
  readonly pauseMs: number;
}

/** Logs a consumer's crash, and decides the pause before another is made in its place. */
export class Restarts {
  readonly #options: RestartsOptions;
  #refusals = 0;
  /** Whether a request was answered since the last crash. */
  #hasAsked = false;

  constructor(options: RestartsOptions) {
    this.#options = options;
  }

  /** Logs a crash; a missing permission is logged once, not at each try. Returns the pause, milliseconds. */
  crashed(error: unknown, message: string): number {
    const { log, pauseMs, rights, topic } = this.#options;
    this.#hasAsked = false;
    if (!rights?.isRefused(this.#options, error)) {
      this.#refusals = 0;
      log.warn({ topic, detail: errorLine(error) }, message);
      return pauseMs;
    }
    log.debug({ topic, detail: errorLine(error) }, message);
    this.#refusals += 1;
    return growingPause(this.#refusals, pauseMs, PAUSE_MS_MAX);
  }

  /** A request was answered, successfully or not. */
  asked(apiName: string): void {
    this.#hasAsked ||= apiName === 'Fetch';
  }

  /** A round of fetching ended without an error; while every partition is paused it has requested nothing. */
  fetched(): void {
    if (this.#hasAsked) this.answered();
  }

  /** Nothing is refused now, or the reading has ended. */
  answered(): void {
    this.#refusals = 0;
    this.#options.rights?.granted(this.#options.topic);
  }
}
