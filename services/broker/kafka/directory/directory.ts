import type { Kafka } from 'kafkajs';
import { type DirectoryChange, directoryKey } from '../../../domain/directory.ts';
import type { Admins } from '../../../kafka-client/client/admins.ts';
import type { RecordSender } from '../../../kafka-client/producer/record-sender.ts';
import type { MissingRights } from '../../../kafka-client/rights/missing-rights.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Random } from '../../../process/random.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { type Follower, REFUSED } from '../../broker.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { DirectoryFollower } from './directory-follower.ts';

/** Longer than a broker's failure holds up the others. */
const PUBLISH_MS_MAX = 30_000;

export interface KafkaDirectoryOptions {
  readonly kafka: Kafka;
  readonly admins: Admins;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly sender: RecordSender;
  readonly records: KafkaRecords;
  readonly rights?: MissingRights;
  /** Compacted, with one partition. */
  readonly topic: string;
  /** The prefix of our consumer groups' names. */
  readonly groupPrefix: string;
}

/** The table of merchants and endpoints: a compacted topic of one partition, a record per key. */
export class KafkaDirectory {
  readonly #options: KafkaDirectoryOptions;
  readonly #followers = new Set<DirectoryFollower>();
  #isClosed = false;

  constructor(options: KafkaDirectoryOptions) {
    this.#options = options;
  }

  /** Resolves when all are durable, in this order. A rejection, after 30 s or a close, means "outcome unknown". */
  async publish(changes: readonly DirectoryChange[]): Promise<void> {
    const { records, sender, topic } = this.#options;
    const encoded = changes.map((change) => ({
      topic,
      partition: 0,
      key: Buffer.from(directoryKey(change)),
      value: records.encode('directory', change),
    }));
    await Promise.all(encoded.map((record) => sender.send(record, PUBLISH_MS_MAX)));
  }

  /**
   * Resolves when the whole table, as it was at the call, has been applied, however long that takes; rejects when
   * closed. A change may be applied again, or after a newer one of its key: versions show which is newer. `republish`:
   * this process publishes, and writes the newest change of a key again after an older one arrived late.
   */
  async follow(
    apply: (change: DirectoryChange) => unknown,
    { republish }: { readonly republish: boolean },
  ): Promise<Follower> {
    if (this.#isClosed) throw new Error('the broker is closed');
    const { kafka, admins, clock, log, records, rights, topic, groupPrefix, random } = this.#options;
    const groupId = `${groupPrefix}directory.`;
    const newest = republish ? new NewestChanges() : null;
    const follower = new DirectoryFollower({
      kafka,
      admins,
      clock,
      log,
      records,
      topic,
      newGroupId: () => `${groupId}${random.uuid()}`,
      restarts: { rights, groupId, isPrefix: true },
      apply: (change) => {
        const applied = apply(change);
        newest?.saw(change, applied === REFUSED);
      },
      caughtUp: () => {
        if (newest) void this.#republish(newest);
      },
    });
    this.#followers.add(follower);
    await follower.start();
    return {
      stalenessMs: () => follower.stalenessMs(),
      close: async () => {
        await follower.close();
        this.#followers.delete(follower);
      },
    };
  }

  /** Closes every follower, within seconds. May be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#followers].map((follower) => follower.close()));
  }

  async #republish(newest: NewestChanges): Promise<void> {
    const changes = newest.takeCovered();
    if (changes.length === 0 || this.#isClosed) return;
    const { log, topic } = this.#options;
    log.warn(
      { topic, keys: changes.length },
      'an older directory change was written after a newer one: publishing the newer one again',
    );
    try {
      await this.publish(changes);
    } catch (error) {
      for (const change of changes) newest.cover(change);
      if (!this.#isClosed)
        log.warn({ topic, detail: String(error) }, 'a directory change could not be published again');
    }
  }
}

/**
 * The newest change of every key, and the keys whose last record is an older one. Compaction keeps the record with the
 * highest offset, whatever its version: a late write of a dead process would outlive the newer change, and later
 * readers of the table would take the old one for the current state.
 */
class NewestChanges {
  readonly #byKey = new Map<string, DirectoryChange>();
  readonly #covered = new Set<string>();

  /** Notes a record of the stream. A refused one is no newer state, and the accepted one is written again after it. */
  saw(change: DirectoryChange, isRefused: boolean): void {
    const key = directoryKey(change);
    const known = this.#byKey.get(key);
    const isCovering =
      known && (isRefused ? change.version <= known.version : change.version < known.version);
    if (isCovering) this.#covered.add(key);
    if (isCovering || isRefused) return;
    this.#byKey.set(key, change);
    this.#covered.delete(key);
  }

  /** Marks a change whose record may not be its key's last. */
  cover(change: DirectoryChange): void {
    const key = directoryKey(change);
    if (this.#byKey.get(key) === change) this.#covered.add(key);
  }

  /**
   * Returns the changes to publish again. Call it when everything is read: an old log may contain the correction
   * already.
   */
  takeCovered(): DirectoryChange[] {
    const changes = [...this.#covered].flatMap((key) => this.#byKey.get(key) ?? []);
    this.#covered.clear();
    return changes;
  }
}
