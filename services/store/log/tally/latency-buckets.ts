/**
 * Durations in buckets whose bounds grow by a fifth: a percentile read from them is at most a tenth off. The first bucket
 * has what took less than a millisecond, the last what took longer than a minute.
 */
const FACTOR = 1.2;
/** A number of a bucket fits in six bits. */
export const BUCKETS = 64;

const PER_BUCKET = 1 / Math.log(FACTOR);

export function bucketOf(durationMs: number): number {
  if (!(durationMs >= 1)) return 0;
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(durationMs) * PER_BUCKET));
}

/**
 * Returns the duration that this share of the counted ones did not exceed, in milliseconds; null when none was counted. It
 * is the middle of a bucket.
 */
export function percentile(counts: ArrayLike<number>, share: number): number | null {
  let total = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) total += counts[bucket] ?? 0;
  let left = Math.ceil(total * share);
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const count = counts[bucket] ?? 0;
    if (count > 0 && left <= count) return Math.round(middleOf(bucket) * 100) / 100;
    left -= count;
  }
  return null;
}

/** Returns what is as many times its lower bound as its upper bound is times it. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0.5 : FACTOR ** (bucket - 0.5);
}
