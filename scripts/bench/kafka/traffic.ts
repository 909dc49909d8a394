import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { type Counts, dividedBy, since, sumOf } from '../counts.ts';
import { sleep } from '../load.ts';
import { COUNTS_MS_MAX, countingRequests, kafkaRecordsFetchedBy, kafkaRequestsOf } from './kafka-requests.ts';

/** The traffic between a service and its brokers: requests by name, records by the kind of their topic. */
export interface Traffic {
  readonly requests: Counts;
  readonly produced: Counts;
  readonly fetched: Counts;
}

/** The service's own name of the platform's topic. */
const EVENTS = 'events';

/** Returns the kind of a topic: its name without the service's prefix; one kind for all tiers of retries. */
export function kindOf(topic: string, prefix: string): string {
  const name = topic.slice(prefix.length);
  return name.endsWith(`.${EVENTS}`) ? EVENTS : name.replace(/^retry\..*/, 'retry');
}

export function trafficSince(before: Traffic, now: Traffic): Traffic {
  return each((part) => since(before[part], now[part]));
}

/** Returns the sum of what was counted, divided by the number of deliveries. */
export function perDelivery(all: readonly Traffic[], deliveries: number): Traffic {
  return each((part) => dividedBy(sumOf(all.map((traffic) => traffic[part])), deliveries));
}

function each(of: (part: keyof Traffic) => Counts): Traffic {
  return { requests: of('requests'), produced: of('produced'), fetched: of('fetched') };
}

/** Counts the traffic of services whose processes run with `environment()`. */
export class TrafficCounter {
  readonly #folder = mkdtempSync(join(tmpdir(), 'hookrail-requests-'));
  readonly #file = join(this.#folder, 'requests');
  readonly #admin: Admin;
  #isConnected = false;

  constructor(brokers: readonly string[]) {
    const kafka = new Kafka({ brokers: [...brokers], clientId: 'bench', logLevel: logLevel.NOTHING });
    this.#admin = kafka.admin();
    process.once('exit', this.#removeFiles);
  }

  environment(): Record<string, string> {
    return countingRequests(this.#file);
  }

  requestsOf(pid: number): Counts {
    return kafkaRequestsOf(this.#file, pid);
  }

  /** Returns what these processes, whose topics have this prefix, have exchanged so far. */
  async look(prefix: string, pids: readonly number[]): Promise<Traffic> {
    await sleep(COUNTS_MS_MAX);
    const byKind = (topics: Counts) =>
      sumOf(Object.entries(topics).map(([topic, count]) => ({ [kindOf(topic, prefix)]: count })));
    return {
      requests: sumOf(pids.map((pid) => this.requestsOf(pid))),
      produced: byKind(await this.#ends(prefix)),
      fetched: byKind(sumOf(pids.map((pid) => kafkaRecordsFetchedBy(this.#file, pid)))),
    };
  }

  async close(): Promise<void> {
    if (this.#isConnected) await this.#admin.disconnect();
    process.removeListener('exit', this.#removeFiles);
    this.#removeFiles();
  }

  /** Returns the number of records that were ever written to each topic. */
  async #ends(prefix: string): Promise<Counts> {
    if (!this.#isConnected) await this.#admin.connect();
    this.#isConnected = true;
    const topics = (await this.#admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    const ends = topics.map(async (topic) => {
      const partitions = await this.#admin.fetchTopicOffsets(topic);
      return [topic, partitions.reduce((sum, { high }) => sum + Number(high), 0)] as const;
    });
    return Object.fromEntries(await Promise.all(ends));
  }

  readonly #removeFiles = () => rmSync(this.#folder, { recursive: true, force: true });
}
