import { messageOf } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import { growingPause } from '../../../process/growing-pause.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { SchemaRegistry } from './registry.ts';

/** The time that a registry's "not found" is remembered: a producer may register late, a registry may be restored. */
const ABSENCE_MS = 30_000;
/** Ids remembered as absent: records can name four billion. */
const ABSENCES_MAX = 1_000;
const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 5_000;
/** The interval at which a schema that the registry does not return is logged again. */
const TELL_AGAIN_MS = 60_000;

/**
 * Schemas by the registry's id. The schema of an id never changes, so it is requested only once: while the registry is
 * down, records with known ids continue and only those with new ids wait.
 */
export class KnownSchemas {
  readonly #registry: SchemaRegistry;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #texts = new Map<number, string>();
  /** When the registry reported that it has no schema with this id; oldest first. */
  readonly #absentSince = new Map<number, number>();
  /** Requests in progress: partitions that wait for the same schema share one. */
  readonly #asking = new Map<number, Promise<boolean>>();
  /** When the registry first failed to respond; undefined while it responds. */
  #silentSince: number | undefined;
  /** Schema ids that records wait for without a response: since when, and when that was last logged. */
  readonly #waiting = new Map<number, { readonly since: number; loggedAt: number }>();

  constructor(registry: SchemaRegistry, clock: Clock, log: Logger) {
    this.#registry = registry;
    this.#clock = clock;
    this.#log = log;
  }

  add(id: number, text: string): void {
    this.#texts.set(id, text);
  }

  /** Returns the schema's text; undefined when it is absent or was not learnt. */
  textOf(id: number): string | undefined {
    return this.#texts.get(id);
  }

  /** Returns whether the registry need not be asked: the schema is known, or was absent a moment ago. */
  isKnown(id: number): boolean {
    if (this.#texts.has(id)) return true;
    const since = this.#absentSince.get(id);
    return since !== undefined && this.#clock.now() - since < ABSENCE_MS;
  }

  /** The number of schemas that records wait for because the registry has not responded. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Requests the schema until the registry has responded or the signal fires. Never rejects. */
  async learn(id: number, signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted && !this.isKnown(id); failures += 1) {
      if (await unlessAborted(this.#ask(id), signal)) return;
      await this.#clock.sleep(growingPause(failures, PAUSE_MS_MIN, PAUSE_MS_MAX), signal);
    }
    this.#waiting.delete(id);
  }

  #ask(id: number): Promise<boolean> {
    const asked = this.#asking.get(id) ?? this.#answer(id).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asked);
    return asked;
  }

  async #answer(id: number): Promise<boolean> {
    try {
      const text = await this.#registry.schemaOf(id);
      this.#absentSince.delete(id);
      this.#waiting.delete(id);
      if (text === undefined) this.#absent(id);
      else this.#texts.set(id, text);
    } catch (error) {
      this.#silent(id, error);
      return false;
    }
    this.#answered();
    return true;
  }

  #absent(id: number): void {
    this.#absentSince.set(id, this.#clock.now());
    for (const oldest of this.#absentSince.keys()) {
      if (this.#absentSince.size <= ABSENCES_MAX) break;
      this.#absentSince.delete(oldest);
    }
  }

  #silent(id: number, error: unknown): void {
    this.#tellAgain(id, error);
    if (this.#silentSince !== undefined) return;
    this.#silentSince = this.#clock.now();
    const reason = messageOf(error);
    this.#log.warn(
      { registry: this.#registry.url, schemaId: id, reason },
      'the schema registry does not answer: records with new schemas wait, others are processed; check it and HOOKRAIL_SCHEMA_REGISTRY_URL',
    );
  }

  /**
   * Logs a missing schema again, even while the registry returns others: the records with this id hold up their
   * partitions.
   */
  #tellAgain(id: number, error: unknown): void {
    const now = this.#clock.now();
    const waiting = this.#waiting.get(id) ?? { since: now, loggedAt: now };
    this.#waiting.set(id, waiting);
    if (now - waiting.loggedAt < TELL_AGAIN_MS) return;
    waiting.loggedAt = now;
    const reason = messageOf(error);
    this.#log.warn(
      { registry: this.#registry.url, schemaId: id, waitingMs: Math.round(now - waiting.since), reason },
      'the schema registry does not return a schema: its records, and those behind them in their partitions, wait',
    );
  }

  #answered(): void {
    if (this.#silentSince === undefined) return;
    const silentMs = Math.round(this.#clock.now() - this.#silentSince);
    this.#silentSince = undefined;
    this.#log.info({ registry: this.#registry.url, silentMs }, 'the schema registry answers again');
  }
}

/** Resolves false as soon as the signal fires: a stop does not wait for a response. */
function unlessAborted(answer: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    // It may have fired while the answer was asked for.
    if (signal.aborted) return resolve(false);
    const done = (answered: boolean) => {
      signal.removeEventListener('abort', aborted);
      resolve(answered);
    };
    const aborted = () => done(false);
    signal.addEventListener('abort', aborted, { once: true });
    answer.then(done);
  });
}
