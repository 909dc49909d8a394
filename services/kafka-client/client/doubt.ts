import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';

/**
 * `another topic`: the brokers return another id than that of the position. `shorter log`: the log ends before records
 * that were read.
 */
export type Contradiction = 'another topic' | 'shorter log';

/** The log of a position, as far as it is known. The id is null where it is not. */
export interface KnownLog {
  readonly topicId: string | null;
  /** The log has been at least this long: the offset after the last record that was read or done. */
  readonly reach: number;
}

/** The same log, as brokers return it. */
interface AnsweredLog {
  readonly topicId: string | null;
  /** The offset after the newest record. */
  readonly end: number;
}

/** For how long the brokers must contradict a position: a leader that hung may return an old end for as long. */
const SURE_MS: Readonly<Record<Contradiction, number>> = { 'another topic': 5000, 'shorter log': 30_000 };
/** In how many answers at least: one may have waited for a broker for longer than that. */
const SURE_ANSWERS = 5;
const TELL_AGAIN_MS = 60_000;

const MEANS: Readonly<Record<Contradiction, string>> = {
  'another topic':
    'the brokers return another id for the topic: it was deleted and created again, or a broker is behind the others; ' +
    'asking again for 5 s before anything is decided',
  'shorter log':
    'the log ends before records that were read: its end was lost, or a broker that hung returns an old end; ' +
    'asking its leader again for 30 s before anything is decided, and reading nothing of it meanwhile',
};

/** Returns how answers contradict a position that was known before they were requested; null = they do not. */
function contradictionOf(known: KnownLog, { topicId, end }: AnsweredLog): Contradiction | null {
  if (known.topicId !== null && topicId !== null && known.topicId !== topicId) return 'another topic';
  return known.reach > end ? 'shorter log' : null;
}

export interface DoubtOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly partition: number;
}

/**
 * Answers of brokers that contradict a position. One such answer decides nothing: to believe it would send a whole topic
 * again. They are believed once they have been the same for a while, without another answer in between.
 */
export class Doubt {
  readonly #options: DoubtOptions;
  #what: Contradiction | null = null;
  #since = 0;
  #answers = 0;
  #lowestEnd = Number.POSITIVE_INFINITY;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: DoubtOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#toldAt > Number.NEGATIVE_INFINITY;
  }

  /** The lowest end that was returned: the log may have grown again since it lost its end. */
  get lowestEnd(): number {
    return this.#lowestEnd;
  }

  /** Returns how answers certainly contradict a position; `unsure`: ask again; null = they do not. */
  judge(known: KnownLog, answered: AnsweredLog): Contradiction | 'unsure' | null {
    const what = contradictionOf(known, answered);
    if (what === null) this.#settle(known);
    // Brokers that have ids may fail to return one: then nothing is certain.
    else if (known.topicId !== null && answered.topicId === null) this.restart();
    else if (this.#isCertain(what, known, answered)) return what;
    return what && 'unsure';
  }

  /** There was no answer: those before it no longer count. */
  restart(): void {
    this.#what = null;
    this.#answers = 0;
  }

  #isCertain(what: Contradiction, { reach }: KnownLog, { end }: AnsweredLog): boolean {
    const { clock, log, topic, partition } = this.#options;
    const now = clock.now();
    if (what !== this.#what) this.restart();
    if (this.#answers === 0) this.#since = now;
    this.#what = what;
    this.#answers += 1;
    this.#lowestEnd = Math.min(this.#lowestEnd, end);
    if (now - this.#toldAt >= TELL_AGAIN_MS) {
      this.#toldAt = now;
      log.warn({ topic, partition, position: reach, end }, MEANS[what]);
    }
    return this.#answers >= SURE_ANSWERS && now - this.#since >= SURE_MS[what];
  }

  #settle({ reach }: KnownLog): void {
    if (!this.isOpen) return;
    const { log, topic, partition } = this.#options;
    const fields = { topic, partition, position: reach, lowestEnd: this.#lowestEnd };
    const unread =
      this.#lowestEnd < reach
        ? '; if its end was lost (unclean leader election), records written since from the lowest end to the position were not read'
        : '';
    log.warn(fields, `the brokers no longer contradict the position: reading on from it${unread}`);
    this.restart();
    this.#lowestEnd = Number.POSITIVE_INFINITY;
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }
}
