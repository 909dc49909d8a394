/** Does the work for each item in turn: one that fails does not hold up the others. Rejects with the first failure, at the end. */
export async function eachInTurn<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
