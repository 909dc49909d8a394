import { setTimeout } from 'node:timers/promises';

/** Waits; ends early, and leaves no timer behind, when the signal fires. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}
