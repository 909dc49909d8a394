import { type CommitNote, readNote } from '../../../kafka-client/consumer/commit-note.ts';
import { deletedBefore, joined, rangeFrom } from '../../../kafka-client/consumer/lost-range.ts';
import type { TopicConsumer } from '../../../kafka-client/consumer/topic-consumer.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Losses } from '../../broker.ts';
import type { Loss, LostRange, TopicLosses } from '../../losses.ts';
import type { LagTopic } from '../lag/lag-topics.ts';
import { Acknowledgements, type AcknowledgementsOptions } from './acknowledgements.ts';

/** The interval at which a process that reports a loss checks whether it was acknowledged. */
const LOOK_MS = 5000;

export interface KafkaLossesOptions extends AcknowledgementsOptions {
  readonly clock: Clock;
  readonly topics: readonly LagTopic[];
  /** Partition counts at the start; a topic may have more by now. */
  readonly partitions: ReadonlyMap<string, number>;
  /** Returns a topic's present id; null = brokers do not return one. */
  readonly topicId: (topic: string) => Promise<string | null>;
  /** Everything that reads a topic in this process. */
  readonly consumers: ReadonlySet<Pick<TopicConsumer, 'topic' | 'partitions'>>;
}

/**
 * Records deleted by retention. The process that reads a partition finds its losses, keeps them in the metadata of its
 * commits and reports them until they are acknowledged. For partitions that it does not read, this process derives them
 * from the group's commits and the oldest offsets, so that a loss is visible before anybody reads the partition again.
 */
export class KafkaLosses implements Losses {
  readonly #options: KafkaLossesOptions;
  readonly #acknowledgements: Acknowledgements;
  #cancel: () => void = () => {};
  #isClosed = false;

  constructor(options: KafkaLossesOptions) {
    this.#options = options;
    this.#acknowledgements = new Acknowledgements(options);
  }

  /** Returns the option of a topic's consumer that asks up to where losses are acknowledged. */
  watching(topic: string) {
    return {
      acknowledged: (partition: number, topicId: string | null) =>
        this.#acknowledgements.upTo(topic, partition, topicId),
    };
  }

  /** Starts checking, until the end. Brokers are asked only while there are losses or acknowledgements in use. */
  start(): void {
    const { clock } = this.#options;
    this.#cancel = clock.at(clock.now() + LOOK_MS, () => {
      void this.#look().finally(() => {
        if (!this.#isClosed) this.start();
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async list(): Promise<TopicLosses[]> {
    const { admins, partitions, topics } = this.#options;
    // Before the offsets: a commit in a topic that is created again meanwhile is not compared with the earlier topic's.
    const ids = new Map(
      await Promise.all(
        topics.map(async ({ topic }) => [topic, await this.#options.topicId(topic)] as const),
      ),
    );
    const [starts, groups] = await Promise.all([
      admins.startsOf(topics.map(({ topic }) => topic)),
      admins.groups(),
    ]);
    return Promise.all(
      topics.map(async (one) => {
        const { stream, topic } = one;
        // The oldest record of a partition without a leader is unknown: its commits remain.
        const silent = Array.from({ length: partitions.get(topic) ?? 0 }, (_, id) => [id, 0] as const);
        const firsts = new Map([...silent, ...(starts.get(topic) ?? [])]);
        const losses = await this.#lossesOf(one, ids.get(topic) ?? null, firsts, groups);
        return { stream, topic, partitions: firsts.size, losses };
      }),
    );
  }

  async acknowledge(topic: string, losses: readonly Loss[]): Promise<void> {
    const topicId = await this.#options.topicId(topic);
    for (const { partition, from, to, count } of losses)
      await this.#acknowledgements.acknowledge(topic, partition, topicId, { from, to, count });
    await this.#look();
  }

  /** `firsts`: the oldest record's offset, by partition. */
  async #lossesOf(
    { topic, groupId }: LagTopic,
    topicId: string | null,
    firsts: ReadonlyMap<number, number>,
    groups: ReadonlySet<string>,
  ): Promise<Loss[]> {
    const { admins } = this.#options;
    const commits = await admins.commitsOf(groupId, topic);
    const known = await this.#acknowledgements.ofTopic(topic, topicId, groups, firsts.keys());
    const held = this.#heldOf(topic);
    return [...firsts].flatMap(([partition, first]) => {
      const { range = null, to = 0 } = known.get(partition) ?? {};
      const commit = commits.get(partition);
      const note = commit ? readNote(commit.offset, commit.metadata) : null;
      const left = held.has(partition)
        ? rangeFrom(held.get(partition) ?? null, to)
        : lossOf(note, topicId, first, to);
      return [
        ...(range ? [{ partition, ...range, isAcknowledged: true }] : []),
        ...(left ? [{ partition, ...left, isAcknowledged: false }] : []),
      ];
    });
  }

  /** Returns the losses of the partitions that this process reads. */
  #heldOf(topic: string): ReadonlyMap<number, LostRange | null> {
    const own = [...this.#options.consumers].filter((consumer) => consumer.topic === topic);
    const partitions = own.flatMap((consumer) => [...consumer.partitions]);
    return new Map(partitions.filter(({ next }) => next !== null).map(({ id, lost }) => [id, lost]));
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { clock, consumers, log } = this.#options;
    for (const { topic, partitions } of consumers) {
      for (const partition of partitions) {
        const { id, lost, topicId } = partition;
        if (!lost) continue;
        try {
          const upTo = await this.#acknowledgements.upTo(topic, id, topicId);
          partition.acknowledgeLost(upTo);
          if (upTo > lost.from) log.info({ topic, partition: id, ...lost, upTo }, 'a loss was acknowledged');
        } catch (error) {
          log.debug({ topic, partition: id, detail: errorLine(error) }, 'an acknowledgement cannot be read');
        }
      }
    }
    await this.#acknowledgements.renew(clock.now());
  }
}

/** Returns the losses in a commit, with the records deleted since. A commit of another topic says nothing. */
function lossOf(
  note: CommitNote | null,
  topicId: string | null,
  first: number,
  acknowledged: number,
): LostRange | null {
  if (!note || (topicId !== null && note.topicId !== null && note.topicId !== topicId)) return null;
  return joined(rangeFrom(note.lost, acknowledged), deletedBefore(first, note, acknowledged));
}
