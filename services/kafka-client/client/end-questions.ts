import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { Outage } from '../../telemetry/outage.ts';
import type { Admins } from './admins.ts';
import { Doubt } from './doubt.ts';
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
  /** It is certainly another log than before, or has lost its end. */
  readonly isReplaced: boolean;
  /** The offset of the oldest record. */
  readonly low: number;
  /** The offset after the newest record. */
  readonly high: number;
}

interface Question {
  readonly askedAt: number;
  /** The log was at least this long by then. */
  readonly reach: number;
  readonly doubt: Doubt;
}

export interface EndQuestionsOptions {
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  /** A topic of one partition. */
  readonly topic: string;
  /** Returns the present read position. */
  readonly position: () => number;
  /**
   * Called with responses, which may arrive in another order than the requests. Those that contradict earlier ones are
   * omitted until that is certain: an old end would prove that the reader has everything.
   */
  readonly answered: (bounds: LogBounds) => void;
}

/**
 * Requests every second where a topic begins and ends, also while earlier requests wait: where responses take two
 * seconds, sequential requests would give no information younger than five.
 */
export class EndQuestions {
  readonly #options: EndQuestionsOptions;
  /** When each request without a response was sent. */
  readonly #underWay = new Set<Question>();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => {};
  #asked = 0;
  #low = 0;
  #high = 0;
  #doubt: Doubt;
  /** Requests that fail together are reported once. */
  readonly #outage: Outage;
  #isClosed = false;

  constructor(options: EndQuestionsOptions) {
    this.#options = options;
    const { log, topic } = options;
    this.#doubt = new Doubt({ ...options, partition: 0 });
    this.#outage = new Outage((error) =>
      log.warn({ topic, detail: errorLine(error) }, 'the end offset of the directory topic cannot be read'),
    );
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
    const { admins, clock, position, topic } = this.#options;
    const question = { askedAt: clock.now(), reach: Math.max(position(), this.#high), doubt: this.#doubt };
    this.#underWay.add(question);
    try {
      // Never a shared response: one requested earlier would prove nothing about this moment.
      const isLowAsked = this.#asked % LOW_EVERY === 0;
      this.#asked += 1;
      const [high, low] = await Promise.all([
        onlyOf(topic, admins.endsOf([topic])),
        isLowAsked ? onlyOf(topic, admins.startsOf([topic])) : this.#low,
      ]);
      this.#outage.succeeded();
      if (!this.#isClosed) this.#take(question, low, high);
    } catch (error) {
      if (!this.#isClosed) this.#outage.failed(error);
      question.doubt.restart();
    }
    this.#underWay.delete(question);
  }

  #take({ askedAt, reach, doubt }: Question, low: number, high: number): void {
    // It was requested before the log was replaced.
    if (doubt !== this.#doubt) return;
    const { admins, answered } = this.#options;
    const contradiction = doubt.judge({ topicId: null, reach }, { topicId: null, end: high });
    if (contradiction === 'unsure') {
      // Who leads the partition is requested again: an earlier leader may return an old end.
      admins.renew();
      return;
    }
    const isReplaced = contradiction !== null;
    if (isReplaced) {
      this.#doubt = new Doubt({ ...this.#options, partition: 0 });
      // The new log may begin anywhere.
      this.#asked = 0;
    }
    this.#high = isReplaced ? high : Math.max(this.#high, high);
    this.#low = isReplaced ? 0 : Math.max(this.#low, low);
    answered({ askedAt, isReplaced, low: this.#low, high });
  }
}

async function onlyOf(topic: string, asked: Promise<Offsets>): Promise<number> {
  const offset = (await asked).get(topic)?.get(0);
  if (offset === undefined) throw new Error(`partition 0 of ${topic} has no leader now`);
  return offset;
}
