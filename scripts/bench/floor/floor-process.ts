/** Measures the floor of the latency, in its own process: what each webhook needs at the least, one at a time. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'undici';
import { answer } from '../child.ts';
import { sleep } from '../load.ts';
import { wallClock } from '../measure.ts';
import type { FloorOptions, FloorSamples, Pace } from './floor.ts';
import { RoundTrips } from './round-trips.ts';

const APPENDED = Buffer.alloc(2048, 'a');
/** Before the first measurement, so that all code is compiled. */
const WARM_UP_TIMES = 200;

interface Parts {
  disk(): void;
  request(): Promise<void>;
  /** Absent without brokers. */
  readonly roundTrip?: () => Promise<void>;
  close(): Promise<void>;
}

let parts: Parts | undefined;

answer({
  async prepare(options: FloorOptions) {
    parts = await open(options);
    for (let i = 0; i < WARM_UP_TIMES; i += 1) {
      parts.disk();
      await parts.request();
      await parts.roundTrip?.();
    }
  },
  async measure(pace: Pace): Promise<FloorSamples> {
    if (!parts) throw new Error('not prepared');
    const { disk, request, roundTrip } = parts;
    const samples = { disk: [] as number[], request: [] as number[], produceAndFetch: [] as number[] };
    await atPace(pace, async () => {
      samples.disk.push(await timed(async () => disk()));
      samples.request.push(await timed(request));
    });
    if (roundTrip) {
      await atPace(pace, async () => {
        samples.produceAndFetch.push(await timed(roundTrip));
      });
    }
    return samples;
  },
  close: () => parts?.close(),
});

async function open({ url, ca, body, folder, brokers }: FloorOptions): Promise<Parts> {
  const own = mkdtempSync(join(folder, 'floor-'));
  const removeFiles = () => rmSync(own, { recursive: true, force: true });
  process.once('exit', removeFiles);
  const file = openSync(join(own, 'appended'), 'a');
  const { origin, pathname } = new URL(url);
  const client = new Client(origin, { connect: { ca }, pipelining: 1 });
  const trips = brokers.length === 0 ? null : await RoundTrips.open(brokers);
  const value = Buffer.from(body);
  return {
    disk() {
      writeSync(file, APPENDED);
      fdatasyncSync(file);
    },
    async request() {
      const headers = { 'content-type': 'application/json' };
      const response = await client.request({ path: pathname, method: 'POST', headers, body: value });
      if (response.statusCode !== 200) throw new Error(`the receiver responded with ${response.statusCode}`);
      await response.body.dump();
    },
    ...(trips ? { roundTrip: () => trips.make(value) } : {}),
    async close() {
      closeSync(file);
      removeFiles();
      await client.close();
      await trips?.close();
    },
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Does the work at a steady pace, once at a time: a slow one delays the next. */
async function atPace({ eventsPerSecond, seconds }: Pace, work: () => Promise<void>): Promise<void> {
  const startedAt = wallClock();
  const endsAt = startedAt + seconds * 1000;
  for (let i = 0; wallClock() < endsAt; i += 1) {
    const wait = startedAt + (i * 1000) / eventsPerSecond - wallClock();
    if (wait > 0) await sleep(wait);
    await work();
  }
}
