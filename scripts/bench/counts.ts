/** Numbers by name. */
export type Counts = Readonly<Record<string, number>>;

/** Returns what was counted between two counts, without what was not. */
export function since(before: Counts, after: Counts): Counts {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}

export function sumOf(all: readonly Counts[]): Counts {
  const sum: Record<string, number> = {};
  for (const [name, count] of all.flatMap(Object.entries<number>)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

export function dividedBy(counts: Counts, divisor: number): Counts {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / divisor]));
}

export function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Returns the highest number of each name. */
export function worstCounts(all: readonly Counts[]): Counts {
  const names = new Set(all.flatMap(Object.keys));
  return Object.fromEntries(
    [...names].map((name) => [name, Math.max(...all.map((each) => each[name] ?? 0))]),
  );
}
