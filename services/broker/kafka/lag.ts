import type { Clock } from '../../runtime/clock.ts';
import type { Admins } from './admins.ts';
import type { Partition } from './partition.ts';

/** How often brokers are asked for what other processes wrote and did. */
const ASK_MS = 2000;
const OPEN_MS_MAX = 15_000;
const OPEN_PAUSE_MS = 100;

export type Stream = 'events' | 'tasks' | 'delayed' | 'journal';

export interface LagTopic {
  readonly topic: string;
  readonly groupId: string;
  readonly stream: Stream;
}

interface Place {
  /** The offset after the newest record. */
  end: number;
  /** Everything before is done, as far as is known. */
  done: number;
  /** Partly done beyond that; known only while the partition is ours. */
  holder: Partition | null;
  /** Since when something has been waiting at this place without progress, or null. */
  waitingSince: number | null;
}

/** What waits in each stream: from what this process writes and does, and every two seconds from the brokers. */
export class Lag {
  readonly #admins: Admins;
  readonly #clock: Clock;
  readonly #topics: readonly LagTopic[];
  readonly #places = new Map<string, Map<number, Place>>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => {};
  #isClosed = false;

  constructor(admins: Admins, clock: Clock, topics: readonly LagTopic[]) {
    this.#admins = admins;
    this.#clock = clock;
    this.#topics = topics;
    for (const { topic } of topics) this.#places.set(topic, new Map());
  }

  /** Asks until it is answered, within seconds (topics made a moment ago have no leaders yet). Then goes on by itself. */
  async open(): Promise<void> {
    const until = this.#clock.now() + OPEN_MS_MAX;
    while (this.#askedAt < 0) {
      try {
        await this.#ask();
      } catch (error) {
        if (this.#clock.now() > until) throw error;
        await this.#clock.sleep(OPEN_PAUSE_MS);
      }
    }
    this.#askAgain();
  }

  /** Whether brokers answered lately. */
  get isAnswered(): boolean {
    return this.#clock.now() - this.#askedAt < 5 * ASK_MS;
  }

  appended(topic: string, id: number, offset: number): void {
    const place = this.#place(topic, id);
    if (!place || offset < place.end) return;
    place.end = offset + 1;
    this.#noteWaiting(place);
  }

  /** The partition is ours from now on. */
  held(partition: Partition): void {
    const place = this.#place(partition.topic, partition.id);
    if (place) place.holder = partition;
  }

  committed(topic: string, id: number, offset: number): void {
    const place = this.#place(topic, id);
    if (place) this.#progress(place, offset);
  }

  backlog(): Record<Stream, number> {
    const sums = { events: 0, tasks: 0, delayed: 0, journal: 0 };
    for (const { topic, stream } of this.#topics) {
      for (const place of this.#places.get(topic)?.values() ?? []) sums[stream] += leftOf(place);
    }
    return sums;
  }

  /** Since when first attempts have been waiting in partitions that this process does not hold; undefined = none. */
  waitingSince(): number | undefined {
    let oldest: number | undefined;
    for (const { topic, stream } of this.#topics) {
      if (stream !== 'tasks') continue;
      for (const place of this.#places.get(topic)?.values() ?? []) {
        if (isHeld(place) || place.waitingSince === null) continue;
        if (oldest === undefined || place.waitingSince < oldest) oldest = place.waitingSince;
      }
    }
    return oldest;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #askAgain(): void {
    this.#cancel = this.#clock.at(this.#clock.now() + ASK_MS, () => {
      this.#ask()
        .catch(() => {})
        .finally(() => {
          if (!this.#isClosed) this.#askAgain();
        });
    });
  }

  async #ask(): Promise<void> {
    await Promise.all(
      this.#topics.map(async ({ topic, groupId }) => {
        const [commits, bounds] = await Promise.all([
          this.#admins.commitsOf(groupId, topic),
          this.#admins.offsetsOf(topic),
        ]);
        for (const [id, { low, high }] of bounds) {
          const place = this.#place(topic, id);
          if (!place) continue;
          place.end = Math.max(place.end, high);
          this.#progress(place, Math.max(commits.get(id)?.offset ?? 0, low));
          this.#noteWaiting(place);
        }
      }),
    );
    this.#askedAt = this.#clock.now();
  }

  #progress(place: Place, done: number): void {
    if (done <= place.done) return;
    place.done = done;
    place.waitingSince = null;
    this.#noteWaiting(place);
  }

  #noteWaiting(place: Place): void {
    if (place.end > place.done) place.waitingSince ??= this.#clock.now();
    else place.waitingSince = null;
  }

  #place(topic: string, id: number): Place | undefined {
    const places = this.#places.get(topic);
    if (!places) return undefined;
    let place = places.get(id);
    if (!place) {
      place = { end: 0, done: 0, holder: null, waitingSince: null };
      places.set(id, place);
    }
    return place;
  }
}

function isHeld({ holder }: Place): boolean {
  return holder?.isAlive === true && holder.next !== null;
}

function leftOf(place: Place): number {
  const { end, done, holder } = place;
  if (holder?.isAlive && holder.next !== null) return Math.max(0, end - holder.prefix - holder.doneAhead);
  return Math.max(0, end - done);
}
