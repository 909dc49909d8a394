import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Admins } from './admins.ts';
import type { Offsets } from './leader-questions.ts';

/** The interval of requests. */
const ASK_MS = 1000;
/** One in this many requests also asks for the log's start: only deletions move it. */
const LOW_EVERY = 10;
/** The most requests in progress: as many as a dead connection keeps for half a minute, and some more. */
const UNDER_WAY_MAX = 40;
/**
 * After this long without a response, requests use another connection. Kafka answers those of a connection one by one.
 */
const LATE_MS = 3000;

/** The bounds of a log at a moment. */
export interface LogBounds {
  /** When they were requested, milliseconds since the epoch; they held at that moment or later. */
  readonly askedAt: number;
  /** The position that had been read by then. */
  readonly position: number;
  /** The offset of the oldest record. */
  readonly low: number;
  /** The offset after the newest record. */
  readonly high: number;
}

export interface EndQuestionsOptions {
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  /** A topic of one partition. */
  readonly topic: string;
  /** Returns the present read position. */
  readonly position: () => number;
  /** Called with every response; they may arrive in another order than the requests. */
  readonly answered: (bounds: LogBounds) => void;
}

/**
 * Requests every second where a topic begins and ends, also while earlier requests wait: where responses take two
 * seconds, sequential requests would give no information younger than five.
 */
export class EndQuestions {
  readonly #options: EndQuestionsOptions;
  /** When each request without a response was sent. */
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
      // Never a shared response: one requested earlier would prove nothing about this moment.
      const isLowAsked = this.#asked % LOW_EVERY === 0;
      this.#asked += 1;
      const [high, low] = await Promise.all([
        onlyOf(topic, admins.endsOf([topic])),
        isLowAsked ? onlyOf(topic, admins.startsOf([topic])) : this.#low,
      ]);
      // A log that ends before its earlier end was replaced: it may begin anywhere.
      const isAnother = high < this.#high;
      this.#high = high;
      this.#low = isAnother ? 0 : low;
      if (isAnother) this.#asked = 0;
      this.#isUnanswered = false;
      if (!this.#isClosed) answered({ ...question, low: this.#low, high });
    } catch (error) {
      // Of requests that fail together, one is reported.
      if (!this.#isClosed && !this.#isUnanswered)
        log.warn({ topic, detail: errorLine(error) }, 'the end offset of the directory topic cannot be read');
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
