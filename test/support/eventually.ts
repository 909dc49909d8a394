/** The pause between two looks. */
const PAUSE_MS = 10;

/**
 * Polls until `probe` returns a truthy value, and resolves with it. Rejects after `withinMs`, naming `what` it waited for.
 * Each pause counts as 10 ms, however late its timer fires: when this process hardly runs, the processes that it waits for
 * hardly run either.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | Promise<T>,
  withinMs = 20_000,
): Promise<NonNullable<T>> {
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    const from = performance.now();
    const value = await probe();
    if (value) return value;
    waitedMs += performance.now() - from;
    if (waitedMs > withinMs) throw new Error(`did not happen within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
