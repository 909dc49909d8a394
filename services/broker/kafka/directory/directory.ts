import type { Kafka } from 'kafkajs';
import { type DirectoryChange, directoryKey } from '../../../domain/directory.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Random } from '../../../process/random.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Follower } from '../../broker.ts';
import type { Admins } from '../client/admins.ts';
import type { RecordSender } from '../producer/record-sender.ts';
import type { KafkaRecords } from '../registry/records.ts';
import type { MissingRights } from '../rights/missing-rights.ts';
import { DirectoryFollower } from './directory-follower.ts';

/** Longer than the fall of a broker holds up the others. */
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
  /** What our consumer groups' names begin with. */
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
   * Resolves when the whole table as it stood at the call has been applied, and waits for it as long as it takes; rejects
   * when closed. A change may be applied again, or after a newer one of its key: versions tell.
   * `republish`: this process publishes, and puts the newest change of a key back on top of a lower one that came late.
   */
  async follow(
    apply: (change: DirectoryChange) => void,
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
        newest?.saw(change);
        apply(change);
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
      'a late change lies above a newer one: publishing the newer again',
    );
    try {
      await this.publish(changes);
    } catch (error) {
      for (const change of changes) newest.cover(change);
      if (!this.#isClosed) log.warn({ topic, detail: String(error) }, 'a change was not published again');
    }
  }
}

/**
 * The newest change of every key, and the keys whose last record is an older one. Compaction keeps the record with the
 * highest offset, whatever its version: a late produce of a dead process would outlive the newer change, and whoever
 * reads the table after that would take the old one for the truth.
 */
class NewestChanges {
  readonly #byKey = new Map<string, DirectoryChange>();
  readonly #covered = new Set<string>();

  saw(change: DirectoryChange): void {
    const key = directoryKey(change);
    const known = this.#byKey.get(key);
    if (known && change.version < known.version) {
      this.#covered.add(key);
      return;
    }
    this.#byKey.set(key, change);
    this.#covered.delete(key);
  }

  /** It is not known to lie on top again. */
  cover(change: DirectoryChange): void {
    const key = directoryKey(change);
    if (this.#byKey.get(key) === change) this.#covered.add(key);
  }

  /** What to publish again. Asked when all is read: what lies covered in an old log may have been put right since. */
  takeCovered(): DirectoryChange[] {
    const changes = [...this.#covered].flatMap((key) => this.#byKey.get(key) ?? []);
    this.#covered.clear();
    return changes;
  }
}
