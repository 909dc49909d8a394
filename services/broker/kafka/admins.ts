import type { Admin, Kafka } from 'kafkajs';
import type { Clock } from '../../runtime/clock.ts';

const TRIES = 4;
const AGAIN_MS = 150;

/** Questions to the cluster, over one connection that is made anew after a failure. */
export class Admins {
  readonly #kafka: Kafka;
  readonly #clock: Clock;
  #admin: Promise<Admin> | null = null;
  /** Questions under way, by the connection they were asked over. */
  readonly #underWay = new Map<Promise<Admin>, number>();
  /** Questions that are asked at the same time share one answer. */
  readonly #asking = new Map<string, Promise<unknown>>();
  #isClosed = false;

  constructor(kafka: Kafka, clock: Clock) {
    this.#kafka = kafka;
    this.#clock = clock;
  }

  /** Asks, a few times over: leaders move, and topics made a moment ago have none. Rejects when that did not help. */
  async ask<Answer>(question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#askOnce(question);
      } catch (error) {
        if (tries === TRIES || this.#isClosed) throw error;
        await this.#clock.sleep(AGAIN_MS * tries);
      }
    }
  }

  /** What is asked from now on goes over a new connection. What waits for an answer goes on waiting. */
  renew(): void {
    const given = this.#admin;
    this.#admin = null;
    if (given && !this.#underWay.has(given)) void letGo(given);
  }

  async #askOnce<Answer>(question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw new Error('the broker is closed');
    this.#admin ??= this.#connect();
    const asked = this.#admin;
    this.#underWay.set(asked, (this.#underWay.get(asked) ?? 0) + 1);
    try {
      return await question(await asked);
    } catch (error) {
      if (this.#admin === asked) this.#admin = null;
      throw error;
    } finally {
      this.#answered(asked);
    }
  }

  /** A connection that is given up is let go once nobody waits for an answer over it. */
  #answered(asked: Promise<Admin>): void {
    const left = (this.#underWay.get(asked) ?? 1) - 1;
    if (left > 0) {
      this.#underWay.set(asked, left);
      return;
    }
    this.#underWay.delete(asked);
    if (this.#admin !== asked) void letGo(asked);
  }

  /** The oldest record's offset and the one after the newest, by partition. */
  offsetsOf(topic: string): Promise<ReadonlyMap<number, { readonly low: number; readonly high: number }>> {
    return this.#shared(`offsets ${topic}`, async (admin) => {
      const offsets = await admin.fetchTopicOffsets(topic);
      return new Map(
        offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]),
      );
    });
  }

  async boundsOf(topic: string, partition: number): Promise<{ readonly low: number; readonly high: number }> {
    const bounds = (await this.offsetsOf(topic)).get(partition);
    if (!bounds) throw new Error(`topic ${topic} has no partition ${partition}`);
    return bounds;
  }

  /** What a group committed for a topic, by partition; partitions without a commit are left out. */
  commitsOf(
    groupId: string,
    topic: string,
  ): Promise<ReadonlyMap<number, { readonly offset: number; readonly metadata: string | null }>> {
    return this.#shared(`commits ${groupId} ${topic}`, async (admin) => {
      const answers = await admin.fetchOffsets({ groupId, topics: [topic] });
      const partitions = answers.find((answer) => answer.topic === topic)?.partitions ?? [];
      const committed = partitions.filter(({ offset }) => Number(offset) >= 0);
      return new Map(
        committed.map(({ partition, offset, metadata }) => [partition, { offset: Number(offset), metadata }]),
      );
    });
  }

  async committedOf(
    groupId: string,
    topic: string,
    partition: number,
  ): Promise<{ readonly offset: number; readonly metadata: string | null }> {
    return (await this.commitsOf(groupId, topic)).get(partition) ?? { offset: -1, metadata: null };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connections = new Set([...this.#underWay.keys(), ...(this.#admin ? [this.#admin] : [])]);
    await Promise.all([...connections].map(letGo));
  }

  #shared<Answer>(name: string, question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    const asking = this.#asking.get(name) as Promise<Answer> | undefined;
    if (asking) return asking;
    const answer = this.ask(question).finally(() => this.#asking.delete(name));
    this.#asking.set(name, answer);
    return answer;
  }

  async #connect(): Promise<Admin> {
    const admin = this.#kafka.admin({ retry: { retries: 2, initialRetryTime: 200 } });
    await admin.connect();
    return admin;
  }
}

/** Never rejects. */
async function letGo(connection: Promise<Admin>): Promise<void> {
  await connection.then((admin) => admin.disconnect()).catch(() => {});
}
