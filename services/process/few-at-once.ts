/** Reads of a store that one request makes at a time: the process has a few connections for all of them. */
export const READS_AT_ONCE = 4;

/**
 * Does the work for each item, at most so many at a time, and returns the results in the order of the items. Rejects with
 * the first failure, and begins nothing afterwards.
 */
export async function fewAtOnce<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  let hasFailed = false;
  const run = async () => {
    for (const [index, item] of left) {
      if (hasFailed) return;
      results[index] = await work(item);
    }
  };
  const runs = Array.from({ length: Math.min(atOnce, items.length) }, run);
  await Promise.all(runs).catch((error) => {
    hasFailed = true;
    throw error;
  });
  return results;
}
