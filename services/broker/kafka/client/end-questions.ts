import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Admins } from './admins.ts';
import { errorLine } from './error-line.ts';
import type { Offsets } from './leader-questions.ts';

/** How often it is asked. */
const ASK_MS = 1000;
/** Where the topic begins is asked with every so many questions for its end: only deletions move it. */
const LOW_EVERY = 10;
/** So many questions wait for their answers at most: those that a dead connection keeps for half a minute, and some. */
const UNDER_WAY_MAX = 40;
/** Unanswered for so long: the next ones go over another connection. Kafka answers one after the other on each. */
const LATE_MS = 3000;

/** Where a log stood at a moment. */
export interface LogBounds {
  /** When it was asked for, milliseconds since the epoch; it was as told at that moment or later. */
  readonly askedAt: number;
  /** What had been read by then. */
  readonly position: number;
  /** Of the oldest record. */
  readonly low: number;
  /** The one after the newest. */
  readonly high: number;
}

export interface EndQuestionsOptions {
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of one partition. */
  readonly topic: string;
  /** Up to where it has been read now. */
  readonly position: () => number;
  /** Called with every answer; they may come in another order than they were asked for. */
  readonly answered: (bounds: LogBounds) => void;
}

/**
 * Asks every second where a topic begins and ends, also while earlier questions wait: where answers take two seconds,
 * asking one after the other would tell nothing younger than five.
 */
export class EndQuestions {
  readonly #options: EndQuestionsOptions;
  /** When each was asked that has no answer yet. */
  readonly #underWay = new Set<{ readonly askedAt: number }>();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => {};
  #asked = 0;
  #low = 0;
  #high = 0;
  #isUnanswered = false;
  #isClosed = false;

  constructor(options: EndQuestionsOptions) {
    this.#options = options;
  }

  start(): void {
    const { admins, clock } = this.#options;
    this.#cancel = clock.at(clock.now() + ASK_MS, () => this.start());
    const oldest = [...this.#underWay].find(({ askedAt }) => askedAt >= this.#renewedAt);
    if (oldest && clock.now() - oldest.askedAt >= LATE_MS) {
      this.#renewedAt = clock.now();
      admins.renew();
    }
    if (this.#underWay.size < UNDER_WAY_MAX) void this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #ask(): Promise<void> {
    const { admins, answered, clock, log, position, topic } = this.#options;
    const question = { askedAt: clock.now(), position: position() };
    this.#underWay.add(question);
    try {
      // Never a shared answer: one that was asked for earlier would prove nothing about this moment.
      const isLowAsked = this.#asked % LOW_EVERY === 0;
      this.#asked += 1;
      const [high, low] = await Promise.all([
        onlyOf(topic, admins.endsOf([topic])),
        isLowAsked ? onlyOf(topic, admins.startsOf([topic])) : this.#low,
      ]);
      // A log that ends before where it ended is another one: it may begin anywhere.
      const isAnother = high < this.#high;
      this.#high = high;
      this.#low = isAnother ? 0 : low;
      if (isAnother) this.#asked = 0;
      this.#isUnanswered = false;
      if (!this.#isClosed) answered({ ...question, low: this.#low, high });
    } catch (error) {
      // Of those that fail together, one is enough.
      if (!this.#isClosed && !this.#isUnanswered)
        log.warn({ topic, detail: errorLine(error) }, 'the end of the directory is not known');
      this.#isUnanswered = true;
    }
    this.#underWay.delete(question);
  }
}

async function onlyOf(topic: string, asked: Promise<Offsets>): Promise<number> {
  const offset = (await asked).get(topic)?.get(0);
  if (offset === undefined) throw new Error(`partition 0 of ${topic} has no leader now`);
  return offset;
}
