/** Polls until `probe` returns a truthy value, and resolves with it. Rejects after `withinMs`, naming `what` it waited for. */
export async function eventually<T>(
  what: string,
  probe: () => T | Promise<T>,
  withinMs = 20_000,
): Promise<NonNullable<T>> {
  const until = Date.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > until) throw new Error(`did not happen within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
