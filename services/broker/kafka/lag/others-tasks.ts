import type { Admins } from '../../../kafka-client/client/admins.ts';
import type { Offsets } from '../../../kafka-client/client/leader-questions.ts';
import type { Clock } from '../../../process/clock.ts';
import type { PartitionLag } from './lag-place.ts';
import type { LagTopic } from './lag-topics.ts';

/** An older answer says nothing of now: its records may be done, others may wait. Three requests fit in. */
const FRESH_MS = 15_000;
/** The time for which requests continue after a read: longer than any interval of scrapes. */
const WANTED_MS = 300_000;

interface Options {
  readonly admins: Pick<Admins, 'startsOf' | 'endsOf' | 'commitsOf'>;
  readonly clock: Clock;
  /** The topics of first attempts. */
  readonly topics: readonly Pick<LagTopic, 'topic' | 'groupId'>[];
  /** The known partitions of a topic. */
  readonly places: (topic: string) => Iterable<PartitionLag>;
  readonly place: (topic: string, id: number) => PartitionLag | undefined;
}

/**
 * First attempts in partitions that this process does not read: when every sender is gone, only processes of other
 * roles can tell that nobody reads them. The brokers are asked while the age is being read.
 */
export class OthersTasks {
  readonly #options: Options;
  #wantedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns how long records had waited without progress when the brokers last responded, milliseconds; 0 = none waits,
   * null = not known, because a partition's last answer is too old. A lower bound: it counts from when this process
   * first knew of them.
   */
  waitingMs(): number | null {
    const now = this.#options.clock.now();
    this.#wantedAt = now;
    let longest = 0;
    let isKnown = true;
    for (const { answeredAt, waitingSince } of this.#others()) {
      if (now - answeredAt > FRESH_MS) isKnown = false;
      else if (waitingSince !== null) longest = Math.max(longest, answeredAt - waitingSince);
    }
    // The next read has it.
    if (!isKnown) this.askIfWanted();
    return longest > 0 || isKnown ? longest : null;
  }

  /** Asks the brokers if the age was read lately. Without an answer the last one grows old. */
  askIfWanted(): void {
    if (this.#isAsking || this.#options.clock.now() - this.#wantedAt >= WANTED_MS) return;
    if (this.#others().length === 0) return;
    this.#isAsking = true;
    this.#ask()
      .catch(() => {})
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #others(): PartitionLag[] {
    const { topics, places } = this.#options;
    return topics.flatMap(({ topic }) => [...places(topic)].filter(({ isHeld }) => !isHeld));
  }

  async #ask(): Promise<void> {
    const { admins, clock, topics, place } = this.#options;
    const at = clock.now();
    const names = topics.map(({ topic }) => topic);
    const [ends, ...commits] = await Promise.all([
      admins.endsOf(names),
      // A coordinator that does not respond leaves the age in one topic unknown.
      ...topics.map(({ groupId, topic }) => admins.commitsOf(groupId, topic).catch(() => null)),
    ]);
    const doneOf = (index: number, id: number) => commits[index]?.get(id)?.offset ?? 0;
    const waiting = names.filter((topic, index) =>
      [...(ends.get(topic) ?? [])].some(([id, end]) => end > doneOf(index, id)),
    );
    // Only records that are still there wait: retention deletes them, done or not.
    const starts: Offsets = waiting.length === 0 ? new Map() : await admins.startsOf(waiting);
    for (const [index, topic] of names.entries()) {
      if (commits[index] === null) continue;
      for (const [id, end] of ends.get(topic) ?? []) {
        const done = doneOf(index, id);
        const first = end > done ? starts.get(topic)?.get(id) : done;
        if (first !== undefined) place(topic, id)?.asked(end, at, Math.max(done, first));
      }
    }
  }
}
