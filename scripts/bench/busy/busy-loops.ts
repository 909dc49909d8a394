import { startChild } from '../child.ts';

/** Processes that each keep one core busy, as other work on the machine does. */
export interface BusyLoops {
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Starts busy loops; they never outlive this process. Resolves when all are running. */
export async function startBusyLoops(count: number): Promise<BusyLoops> {
  const loops = Array.from({ length: count }, () => startChild('./busy/busy-loop-process.mjs'));
  const stop = async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
  };
  try {
    await Promise.all(loops.map((loop) => loop.ask('run')));
  } catch (error) {
    await stop();
    throw error;
  }
  return { pids: loops.flatMap((loop) => loop.process.pid ?? []), stop };
}
