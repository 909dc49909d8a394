import { useSyncExternalStore } from 'react';
import { clock } from '../api/api.ts';

const SECOND_MS = 1000;

const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = clock.now();

function tick(): void {
  now = clock.now();
  for (const watch of watchers) watch();
}

function watched(watch: () => void): () => void {
  watchers.add(watch);
  timer ??= setInterval(tick, SECOND_MS);
  return () => {
    watchers.delete(watch);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function read(): number {
  if (Math.abs(clock.now() - now) > SECOND_MS) now = clock.now();
  return now;
}

/** Returns the service's time, again each second; one timer serves the whole page. */
export function useNow(): number {
  return useSyncExternalStore(watched, read);
}
