import { Pool } from 'undici';
import { eventToJson } from '../../services/codec/events.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { wallClock } from './measure.ts';

/** Events per request of a producer that batches for some milliseconds. POST /producer/events accepts up to 500. */
export const EVENTS_PER_REQUEST = 100;
const CONNECTIONS = 4;
/** The pause before a request that got a 503 is sent again. */
const AGAIN_MS = 50;
const POST_MS_MAX = 60_000;

/** A request to POST /producer/events, serialised before the clock starts. */
export interface Post {
  readonly eventIds: readonly string[];
  readonly body: string;
}

/** Returns realistic completed on-ramps, one entity each, spread evenly over the merchants. `label` distinguishes runs. */
export function makeEvents(merchantIds: readonly string[], count: number, label: string): DomainEvent[] {
  return Array.from({ length: count }, (_, i) =>
    sampleEvent({
      type: 'fiatToCrypto',
      subType: 'SUCCESS',
      merchantId: merchantIds[i % merchantIds.length] ?? '',
      entityId: uuidV5('bench-entity', label, `${i}`),
      seed: `bench/${label}/${i}`,
      occurredAt: Math.floor(wallClock()),
      simulated: true,
    }),
  );
}

export function serialise(events: readonly DomainEvent[], perPost = EVENTS_PER_REQUEST): Post[] {
  const posts: Post[] = [];
  for (let i = 0; i < events.length; i += perPost) {
    const part = events.slice(i, i + perPost);
    posts.push({
      eventIds: part.map(({ eventId }) => eventId),
      body: JSON.stringify(part.map(eventToJson)),
    });
  }
  return posts;
}

/**
 * Calls `publish` for 0 … steps − 1, a few at a time. Before each, it awaits `room` with the number of steps begun so far.
 * Resolves when all are done.
 */
export async function pour(
  steps: number,
  publish: (step: number) => Promise<void>,
  room: (begun: number) => Promise<void>,
): Promise<void> {
  let begun = 0;
  const worker = async () => {
    while (begun < steps) {
      await room(begun);
      if (begun < steps) await publish(begun++);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

/** Publishes prepared requests as a producer does, over a few persistent connections. */
export class Producer {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(apiUrl: string, producerKey: string) {
    this.#pool = new Pool(apiUrl, { connections: CONNECTIONS, headersTimeout: POST_MS_MAX });
    this.#headers = { authorization: `API-Key ${producerKey}`, 'content-type': 'application/json' };
  }

  /**
   * Publishes at a steady rate, independent of the responses, so that a slow service cannot slow its own measurement.
   * Resolves with the time at which each event was posted.
   */
  async publishAt(perSecond: number, posts: readonly Post[]): Promise<ReadonlyMap<string, number>> {
    const postedAt = new Map<string, number>();
    const running: Promise<void>[] = [];
    const start = wallClock();
    for (const [i, post] of posts.entries()) {
      const wait = start + (i * 1000) / perSecond - wallClock();
      if (wait > 0) await sleep(wait);
      const now = wallClock();
      for (const eventId of post.eventIds) postedAt.set(eventId, now);
      running.push(this.publish(post));
    }
    await Promise.all(running);
    return postedAt;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async publish(post: Post): Promise<void> {
    const giveUpAt = wallClock() + POST_MS_MAX;
    for (;;) {
      const path = '/producer/events';
      const answer = await this.#pool.request({
        path,
        method: 'POST',
        headers: this.#headers,
        body: post.body,
      });
      const text = await answer.body.text();
      if (answer.statusCode === 202) return;
      if (answer.statusCode !== 503 || wallClock() > giveUpAt) {
        throw new Error(`POST ${path} returned ${answer.statusCode}: ${text.slice(0, 500)}`);
      }
      await sleep(AGAIN_MS);
    }
  }
}

/** Resolves after the time, or as soon as the signal fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
