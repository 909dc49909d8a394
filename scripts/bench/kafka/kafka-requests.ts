import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Counts, dividedBy, since, totalOf } from '../counts.ts';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'count-kafka-requests.mjs'));
/** The age of the counts in the file, at most. */
export const COUNTS_MS_MAX = 500;

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

/** Returns the environment of a process whose Kafka requests are counted in `file`, which the functions below read. */
export function countingRequests(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${PRELOADED.href}`, COUNT_KAFKA_REQUESTS: file };
}

/** Returns the number of requests so far of the process with this id, by name. */
export function kafkaRequestsOf(file: string, pid: number): Counts {
  const { requests } = countsOf(file, pid);
  return Object.fromEntries(
    Object.entries(requests).map(([key, count]) => [NAMES[key] ?? `api ${key}`, count]),
  );
}

/** Returns the number of records that the process has fetched so far, by topic. */
export function kafkaRecordsFetchedBy(file: string, pid: number): Counts {
  return countsOf(file, pid).fetched;
}

function countsOf(file: string, pid: number): { readonly requests: Counts; readonly fetched: Counts } {
  return JSON.parse(readFileSync(`${file}.${pid}`, 'utf8'));
}

/** Returns the requests per second between two counts, by name and in total. */
export function requestRates(
  before: Counts,
  after: Counts,
  seconds: number,
): { readonly all: number; readonly byName: Counts } {
  const byName = dividedBy(since(before, after), seconds);
  return { all: totalOf(byName), byName };
}
