import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'count-kafka-requests.mjs'));

const NAMES: Readonly<Record<string, string>> = {
  0: 'Produce',
  1: 'Fetch',
  2: 'ListOffsets',
  3: 'Metadata',
  8: 'OffsetCommit',
  9: 'OffsetFetch',
  10: 'FindCoordinator',
  12: 'Heartbeat',
};

export type KafkaRequests = Readonly<Record<string, number>>;

/** Returns the environment of a process whose Kafka requests are counted in `file`, which `kafkaRequestsOf` reads. */
export function countingRequests(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${PRELOADED.href}`, COUNT_KAFKA_REQUESTS: file };
}

/** Returns the number of requests so far of the process with this id, by name. */
export function kafkaRequestsOf(file: string, pid: number): KafkaRequests {
  const counts = JSON.parse(readFileSync(`${file}.${pid}`, 'utf8')) as Record<string, number>;
  return Object.fromEntries(
    Object.entries(counts).map(([key, count]) => [NAMES[key] ?? `api ${key}`, count]),
  );
}

/** Returns the requests per second between two counts, by name and in total. */
export function requestRates(
  before: KafkaRequests,
  after: KafkaRequests,
  seconds: number,
): { readonly all: number; readonly byName: KafkaRequests } {
  const byName = Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, (count - (before[name] ?? 0)) / seconds] as const)
      .filter(([, rate]) => rate > 0),
  );
  return { all: Object.values(byName).reduce((sum, rate) => sum + rate, 0), byName };
}
