import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetProcess } from './fleet.ts';

const WATCH_MS = 250;
const NO_ANSWER = { status: 0, reasons: [] };

/** A look at a process's readiness. */
export interface Seen {
  readonly name: string;
  readonly at: number;
  /** 0 = no answer. */
  readonly status: number;
  readonly reasons: readonly string[];
}

/** Asks every process again and again whether it is ready. */
export function watchReadiness(processes: readonly FleetProcess[]): {
  readonly seen: Seen[];
  stop(): Promise<void>;
} {
  const seen: Seen[] = [];
  let isOver = false;
  const watching = Promise.all(
    processes.map(async (process) => {
      while (!isOver) {
        const at = Date.now();
        const { status, reasons } = await process.readiness().catch(() => NO_ANSWER);
        seen.push({ name: process.name, at, status, reasons });
        await sleep(WATCH_MS);
      }
    }),
  );
  const stop = async () => {
    isOver = true;
    await watching;
  };
  return { seen, stop };
}

/** Returns the looks at which a process said "not ready" twice in a row. */
export function twiceUnready(seen: readonly Seen[], name: string): Seen[] {
  const isUnready = (one?: Seen) => one !== undefined && one.status !== 200;
  const ofOne = seen.filter((one) => one.name === name);
  return ofOne.filter((one, index) => isUnready(one) && isUnready(ofOne[index - 1]));
}
