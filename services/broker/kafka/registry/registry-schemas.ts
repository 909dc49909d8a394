import { RegisteredSchema } from '../../../codec/written/written-schema.ts';
import { messageOf } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import { growingPause } from '../../../process/growing-pause.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { SchemaRegistry } from './registry.ts';
import { MissingSchema } from './registry-references.ts';

/**
 * The time for which an absent schema is asked for again before it is believed to be absent: a registry of several nodes
 * may learn of a schema after the producer that registered it has published. The record's partition waits meanwhile.
 */
const PATIENCE_MS = 8_000;
/** An id that no record had for so long is waited for anew. */
const SPELL_MS = 60_000;
/** The age of the response "absent" up to which it counts for records whose time of reading is not known. */
const ABSENCE_MS = 30_000;
/** Ids remembered as absent: records can name four billion. */
const ABSENCES_MAX = 1_000;
/** Beliefs of the last minute that are counted: with so many there is no patience left. */
const BELIEFS_MAX = 12;
/** A shorter wait is not logged. */
const TOLD_MS_MIN = 1_000;
const ABSENT_PAUSE_MS_MAX = 1_000;
const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 5_000;
/** The interval at which a schema that the registry does not return is logged again. */
const TELL_AGAIN_MS = 60_000;

/** A schema that the registry reports as absent. */
interface Absence {
  readonly detail: string;
  /** Until when it is asked for again. */
  readonly until: number;
  /** The start of the last request. */
  askedAt: number;
  /** It was absent for long enough. */
  isBelieved: boolean;
}

/**
 * Schemas by the registry's id. The schema of an id never changes, so it is requested only once: while the registry is
 * down, records with known ids continue and only those with new ids wait. "Absent" may change at any moment: it counts
 * for records that were read before the registry was asked, and for no later ones.
 */
export class KnownSchemas {
  readonly #registry: SchemaRegistry;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #found = new Map<number, RegisteredSchema>();
  /** The least recently asked for comes first. */
  readonly #absences = new Map<number, Absence>();
  /** When absences were believed lately; oldest first. */
  #beliefs: number[] = [];
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
    this.#found.set(id, new RegisteredSchema(text));
  }

  /** Returns the schema; undefined when it is absent or was not learnt. */
  schemaOf(id: number): RegisteredSchema | undefined {
    return this.#found.get(id);
  }

  /** Returns what the registry lacks: the schema, or one that it refers to. */
  absenceOf(id: number): string {
    return this.#absences.get(id)?.detail ?? `the registry has no schema ${id}`;
  }

  /**
   * Returns whether the registry need not be asked: the schema is known, or was absent when the registry was asked after
   * the record had been read. `readAt`: that time of the clock; absent = within the last half minute.
   */
  isKnown(id: number, readAt = this.#clock.now() - ABSENCE_MS + 1): boolean {
    if (this.#found.has(id)) return true;
    const absence = this.#absences.get(id);
    return absence?.isBelieved === true && absence.askedAt >= readAt;
  }

  /** The number of schemas that records wait for because the registry has not responded. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Requests the schema until the registry has returned it, has reported it as absent for some seconds, or the signal
   * fires. Never rejects.
   */
  async learn(id: number, signal: AbortSignal, readAt?: number): Promise<void> {
    for (let asked = 1; !signal.aborted && !this.isKnown(id, readAt); asked += 1) {
      const hasAnswered = await unlessAborted(this.#ask(id), signal);
      if (this.isKnown(id, readAt)) break;
      const { until = 0, isBelieved = true } = (hasAnswered && this.#absences.get(id)) || {};
      const most = hasAnswered ? Math.min(ABSENT_PAUSE_MS_MAX, until - this.#clock.now()) : PAUSE_MS_MAX;
      // It was asked for before this record was read, by another partition: once more, at once.
      if (hasAnswered && isBelieved) continue;
      await this.#clock.sleep(growingPause(asked, PAUSE_MS_MIN, Math.max(most, 1)), signal);
    }
    this.#waiting.delete(id);
  }

  #ask(id: number): Promise<boolean> {
    const asked = this.#asking.get(id) ?? this.#answer(id).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asked);
    return asked;
  }

  async #answer(id: number): Promise<boolean> {
    const askedAt = this.#clock.now();
    try {
      const schema = await this.#registry.schemaOf(id);
      this.#waiting.delete(id);
      if (schema instanceof MissingSchema) this.#absent(id, askedAt, schema);
      else this.#learnt(id, schema);
    } catch (error) {
      this.#silent(id, error);
      return false;
    }
    this.#answered();
    return true;
  }

  #learnt(id: number, schema: RegisteredSchema): void {
    this.#found.set(id, schema);
    this.#absences.delete(id);
  }

  #absent(id: number, askedAt: number, { detail }: MissingSchema): void {
    const now = this.#clock.now();
    const before = this.#absences.get(id);
    const isSpell = before !== undefined && askedAt - before.askedAt < SPELL_MS;
    const absence = isSpell
      ? before
      : { detail, until: now + this.#patienceMs(id, now), askedAt, isBelieved: false };
    absence.askedAt = askedAt;
    if (!absence.isBelieved && now >= absence.until) {
      absence.isBelieved = true;
      this.#beliefs.push(now);
    }
    this.#absences.delete(id);
    this.#absences.set(id, absence);
    for (const oldest of this.#absences.keys()) {
      if (this.#absences.size <= ABSENCES_MAX) break;
      this.#absences.delete(oldest);
    }
  }

  /**
   * Halved by each absence that was believed within a minute, so that records with many ids which never existed hold up
   * their partitions for twice the patience at most, not once for each id.
   */
  #patienceMs(id: number, now: number): number {
    this.#beliefs = this.#beliefs.filter((at) => now - at < SPELL_MS).slice(-BELIEFS_MAX);
    if (this.#beliefs.length === BELIEFS_MAX) return 0;
    const patienceMs = PATIENCE_MS / 2 ** this.#beliefs.length;
    if (patienceMs >= TOLD_MS_MIN) {
      const fields = { registry: this.#registry.url, schemaId: id, patienceMs };
      this.#log.info(
        fields,
        'the schema registry does not have a schema: its records wait a moment in case it is late',
      );
    }
    return patienceMs;
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
