import { STALLS_KEPT_MS, type StallEntry } from '../../../domain/stalls/stall.ts';
import type { KafkaAccess } from '../../../kafka-client/client/access.ts';
import type { Admins } from '../../../kafka-client/client/admins.ts';
import type { TopicReader } from '../../../kafka-client/client/topic-reader.ts';
import { SESSION_MS } from '../../../kafka-client/consumer/group-member.ts';
import type { RecordSender } from '../../../kafka-client/producer/record-sender.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import { threadModule } from '../../../process/worker-thread.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { Outage } from '../../../telemetry/outage.ts';
import type { StallFollower, StallLog } from '../../stalls.ts';
import { explainKafkaError } from '../explain-error.ts';

const LOOK_MS = 1000;
/** Every process has looked at least once in this time, unless it is in trouble. */
const READ_MS = 3 * LOOK_MS;
const WRITTEN_MS_MAX = 30_000;
/** Half of the session's time: a few seconds are left to write it and to read it. */
const EARLY_MS = SESSION_MS / 2;

export interface StallTopicOptions {
  readonly access: KafkaAccess;
  readonly topic: string;
  readonly admins: Pick<Admins, 'endsOf'>;
  readonly reader: Pick<TopicReader, 'read'>;
  readonly sender: Pick<RecordSender, 'send'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The stalls in a topic of one partition, as JSON. A sender takes a task over when the session of the one that it stopped
 * has ended, and has read of the stall by then, because that is written down when half of the session has passed. It needs
 * no schema, so the watchdog's thread need not reach the registry.
 */
export class StallTopic implements StallLog {
  readonly writer: StallLog['writer'];
  readonly #options: StallTopicOptions;

  constructor(options: StallTopicOptions) {
    this.#options = options;
    const { access, topic } = options;
    const module = threadModule(new URL('./stall-topic-writer.ts', import.meta.url));
    this.writer = { module, data: { access, topic }, earlyMs: EARLY_MS };
  }

  async follow(apply: (entry: StallEntry) => void): Promise<StallFollower> {
    const { access } = this.#options;
    const reading = new Reading(this.#options, apply);
    await reading.readNew().catch((error: unknown) => {
      throw new Error(explainKafkaError(error, access.brokers));
    });
    reading.start();
    return reading;
  }

  async append(entry: StallEntry): Promise<void> {
    const { clock, sender, topic } = this.#options;
    const value = Buffer.from(JSON.stringify(entry));
    await sender.send({ topic, partition: 0, key: null, value }, WRITTEN_MS_MAX);
    await clock.sleep(READ_MS);
  }
}

class Reading implements StallFollower {
  readonly #options: StallTopicOptions;
  readonly #apply: (entry: StallEntry) => void;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #next = 0;

  constructor(options: StallTopicOptions, apply: (entry: StallEntry) => void) {
    this.#options = options;
    this.#apply = apply;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async readNew(): Promise<void> {
    const { admins, clock, reader, topic } = this.#options;
    const end = (await admins.endsOf([topic])).get(topic)?.get(0);
    if (end === undefined || end <= this.#next) return;
    const since = clock.wall() - STALLS_KEPT_MS;
    await reader.read(topic, new Map([[0, this.#next]]), ({ offset, timestamp, value }) => {
      this.#next = offset + 1;
      const entry = entryOf(value);
      if (entry && timestamp >= since) this.#apply(entry);
    });
    this.#next = Math.max(this.#next, end);
  }

  async #run(): Promise<void> {
    const { clock, log, topic } = this.#options;
    const { signal } = this.#closing;
    // An outage of the brokers is reported elsewhere; a permission that lacks is not.
    const outage = new Outage((error) =>
      log.warn({ topic, reason: errorLine(error) }, 'the stalls of other processes cannot be read'),
    );
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      try {
        await this.readNew();
        outage.succeeded();
      } catch (error) {
        if (!signal.aborted) outage.failed(error);
      }
    }
  }
}

/** Returns undefined for a record that is not ours. */
function entryOf(value: Buffer | null): StallEntry | undefined {
  try {
    const entry = JSON.parse(value?.toString() ?? '') as StallEntry;
    return typeof entry?.at === 'number' ? entry : undefined;
  } catch {
    return undefined;
  }
}
