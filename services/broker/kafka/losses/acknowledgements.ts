import type { Admins } from '../../../kafka-client/client/admins.ts';
import { rootOf } from '../../../kafka-client/client/client.ts';
import { readRange, writeRange } from '../../../kafka-client/consumer/commit-note.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { LostRange } from '../../losses.ts';

/** An operator knows of everything that was lost before `to`. */
interface Acknowledgement {
  readonly topicId: string | null;
  readonly to: number;
  /** The last acknowledged loss; null = its range was not kept. */
  readonly range: LostRange | null;
}

export interface AcknowledgementsOptions {
  readonly admins: Admins;
  readonly log: Logger;
  /** The prefix of our consumer groups' names. */
  readonly groupPrefix: string;
  /** The directory's topic: every process may read it, and so may commit offsets for it. */
  readonly directory: string;
}

/**
 * The interval at which acknowledgements in use are committed again: brokers forget them after
 * offsets.retention.minutes.
 */
const RENEW_MS = 86_400_000;

/** The only partition of the directory's topic. */
const PARTITION = 0;

/**
 * The offset up to which operators have acknowledged the losses of a partition. It is kept as an offset committed by
 * the group `<prefix>lost.<topic>.<partition>`, with `<topicId>;<range>` as its metadata: every process reads it, and
 * the operator's tool can write it while the group that reads the topic has members. These groups never have any.
 */
export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  /** The groups whose acknowledgements positions here depend on, and when they were last committed. */
  readonly #inUse = new Map<string, number>();
  #isRefused = false;

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  /**
   * Losses before this offset are acknowledged; 0 = none is. `topicId`: acknowledgements of another topic are ignored.
   */
  async upTo(topic: string, partition: number, topicId: string | null): Promise<number> {
    const group = this.#groupOf(topic, partition);
    const found = await this.#read(group);
    if (!found || !isOf(found, topicId)) return 0;
    if (!this.#inUse.has(group)) this.#inUse.set(group, Number.NEGATIVE_INFINITY);
    return found.to;
  }

  /** Returns those of all partitions of a topic. `groups`: the names of all existing groups. */
  async ofTopic(
    topic: string,
    topicId: string | null,
    groups: ReadonlySet<string>,
    partitions: Iterable<number>,
  ): Promise<ReadonlyMap<number, Acknowledgement>> {
    const all = new Map<number, Acknowledgement>();
    for (const partition of partitions) {
      const group = this.#groupOf(topic, partition);
      const found = groups.has(group) ? await this.#read(group) : null;
      if (found && isOf(found, topicId)) all.set(partition, found);
    }
    return all;
  }

  /** Durable when it resolves. */
  async acknowledge(
    topic: string,
    partition: number,
    topicId: string | null,
    range: LostRange,
  ): Promise<void> {
    await this.#commit(this.#groupOf(topic, partition), { topicId, to: range.to, range });
  }

  /** Keeps those in use from expiring: a position that does not move may need them for months. Never rejects. */
  async renew(now: number): Promise<void> {
    for (const [group, renewedAt] of this.#inUse) {
      if (now - renewedAt < RENEW_MS) continue;
      try {
        const found = await this.#read(group);
        if (found) await this.#commit(group, found);
        this.#inUse.set(group, now);
      } catch (error) {
        this.#options.log.debug({ group, detail: errorLine(error) }, 'an acknowledgement was not renewed');
      }
    }
  }

  async #commit(group: string, { topicId, to, range }: Acknowledgement): Promise<void> {
    const { admins, directory } = this.#options;
    const metadata = `${topicId ?? ''};${range ? writeRange(range) : ''}`;
    await admins.commit(group, { topic: directory, partition: PARTITION, offset: `${to}`, metadata });
  }

  /** Reads a commit; null = there is none, or the Kafka user may not see it, which is reported. */
  async #read(group: string): Promise<Acknowledgement | null> {
    const { admins, directory, log } = this.#options;
    try {
      const { offset, metadata } = await admins.committedOf(group, directory, PARTITION);
      if (offset < 0) return null;
      const [topicId, range] = (metadata ?? '').split(';');
      return { topicId: topicId || null, to: offset, range: readRange(range) };
    } catch (error) {
      if (rootOf(error).type !== 'GROUP_AUTHORIZATION_FAILED') throw error;
      if (!this.#isRefused) {
        const means = '`hookrail operator topics` prints the ACLs';
        log.warn(
          { group },
          `acknowledgements of lost records cannot be read: the Kafka user needs READ on the group; ${means}`,
        );
      }
      this.#isRefused = true;
      return null;
    }
  }

  #groupOf(topic: string, partition: number): string {
    return `${this.#options.groupPrefix}lost.${topic}.${partition}`;
  }
}

function isOf(found: Acknowledgement, topicId: string | null): boolean {
  return topicId === null || found.topicId === null || found.topicId === topicId;
}
