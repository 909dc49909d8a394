import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import { spawnGuarded } from '../../../../scripts/guard/guard.ts';
import { eventually } from '../../eventually.ts';
import {
  RECONCILER_RUNTIMES,
  RECONCILERS,
  type ReconcilerPlace,
  reconcilerPlace,
  stateOf,
} from '../../receivers/documented-reconcilers.ts';
import { jsonEventOf } from '../../records/events.ts';
import { inForce } from '../../service/in-force.ts';
import { MerchantClient } from '../../service/merchant-client.ts';
import type { StreamedService } from '../resumed-stream.ts';

/** How long a reader runs before it is killed, at most: some are killed before they have read anything. */
const READER_MS_MAX = 250;
const BATCH = 20;
/** How long a process may take to start again. */
const START_MS_MAX = 60_000;

export interface FeedTrial extends StreamedService {
  readonly events: number;
  readonly kills: number;
}

/**
 * Publishes while the process with api and recorder is killed, and a reader of the event feed too, over and over: the
 * example of docs/receivers, to which nothing was received, so that its state has every event it has read. Expects each
 * event there exactly once, in the order in which one reader without interruption gets them.
 */
export async function expectFeedOnce({ setup, receiverUrl, api, killApi, events, kills }: FeedTrial) {
  const merchant = new MerchantClient(setup, api);
  await merchant.createEndpoint(receiverUrl);
  await inForce();
  const [runtime] = RECONCILER_RUNTIMES;
  if (runtime === undefined) throw new Error('there is no example');
  const place = reconcilerPlace(runtime);
  const reader = new KilledReader(place, () => ({
    HOOKRAIL_BASE_URL: api().apiUrl,
    HOOKRAIL_API_KEY: setup.apiKey,
  }));
  const reading = reader.run();
  const ids: string[] = [];
  try {
    for (let kill = 0; kill <= kills; kill += 1) {
      while (ids.length < (events * (kill + 1)) / (kills + 1)) {
        const batch = Array.from({ length: BATCH }, (_, n) =>
          jsonEventOf(setup.merchantId, `feed ${ids.length + n}`),
        );
        await eventually(
          'the batch is acknowledged',
          async () => (await merchant.publish(batch).catch(() => null))?.status === 202,
          60_000,
        );
        ids.push(...batch.map(({ header }) => header.eventId));
      }
      if (kill < kills) await killApi(async () => {});
    }
    await eventually('the reader has every event', () => readBy(place).length >= ids.length, 120_000);
  } finally {
    await reader.stop(reading);
  }
  const seen = readBy(place);
  expect([...seen].sort()).toEqual([...ids].sort());
  expect(await feedOf(merchant)).toEqual(seen);
  expect(reader.kills).toBeGreaterThan(0);
  rmSync(place.scratch, { recursive: true });
  return { events: ids.length, readersKilled: reader.kills };
}

function readBy(place: ReconcilerPlace): readonly string[] {
  try {
    return stateOf(place).missing;
  } catch {
    return [];
  }
}

/** Reads the whole feed at once. */
async function feedOf(merchant: MerchantClient): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await merchant.request('GET', `/merchant/events?order=asc&limit=500${cursor}`);
    expect([status, body.gap]).toEqual([200, null]);
    ids.push(...body.data.map((event: { event_uuid: string }) => event.event_uuid));
    if (!body.has_more) return ids;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

/** Runs the example again and again, and kills most of its runs. */
class KilledReader {
  readonly #place: ReconcilerPlace;
  readonly #access: () => Readonly<Record<string, string>>;
  #isOver = false;
  kills = 0;

  constructor(place: ReconcilerPlace, access: () => Readonly<Record<string, string>>) {
    this.#place = place;
    this.#access = access;
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      await eventually('the api runs', () => this.#isOver || this.#address() !== undefined, START_MS_MAX);
      const env = { ...process.env, ...this.#address(), RECONCILE_STATE: this.#place.state };
      const args = ['reconcile.mjs', this.#place.received];
      const child = spawnGuarded(process.execPath, args, { cwd: RECONCILERS, env, stdio: 'ignore' });
      const ended = once(child, 'exit');
      const timer = setTimeout(
        () => {
          this.kills += 1;
          child.kill('SIGKILL');
        },
        50 + Math.random() * READER_MS_MAX,
      );
      await ended;
      clearTimeout(timer);
    }
  }

  /** Undefined while no process has the api. */
  #address() {
    try {
      return this.#access();
    } catch {
      return undefined;
    }
  }

  async stop(reading: Promise<void>): Promise<void> {
    this.#isOver = true;
    await reading;
  }
}
