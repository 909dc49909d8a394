import type { Clock } from './clock.ts';

/**
 * Polls until `condition()` holds: resolves true then, and false when `atMostMs` have passed or the signal fires first. For
 * conditions that emit no event. Milliseconds.
 */
export async function pollUntil(
  clock: Clock,
  condition: () => boolean | Promise<boolean>,
  {
    everyMs,
    atMostMs,
    signal,
  }: { readonly everyMs: number; readonly atMostMs: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  const until = clock.now() + atMostMs;
  for (;;) {
    if (await condition()) return true;
    if (clock.now() >= until || signal?.aborted) return false;
    await clock.sleep(everyMs, signal);
  }
}
