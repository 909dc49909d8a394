/** How long calls wait for a party that hangs: the figures of docs/operate/silent-parties.md. */
import { performance } from 'node:perf_hooks';

export interface Waited<T> {
  readonly ms: number;
  readonly result: T;
}

/** Prints how long a call took, as a row of the table. */
export async function waited<T>(row: string, call: () => T | Promise<T>): Promise<Waited<T>> {
  const from = performance.now();
  const result = await call();
  const ms = performance.now() - from;
  printWait(row, ms);
  return { ms, result };
}

export function printWait(row: string, ms: number): void {
  console.log(`${row}: ${(ms / 1000).toFixed(1)} s`);
}
