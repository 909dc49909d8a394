import { startChild } from './child.ts';

export interface BareLoopOptions {
  readonly url: string;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
  /** The body every request carries. */
  readonly body: Uint8Array;
  /** Before each run: connections that ended meanwhile are open again, and what the service left to the kernel is done. */
  readonly warmUpMs: number;
  readonly durationMs: number;
}

export interface BareLoopResult {
  readonly deliveries: number;
  readonly seconds: number;
  readonly deliveriesPerSecond: number;
  /** User and system time of the sending process alone. */
  readonly cpuMicrosPerDelivery: number;
}

/** A process that runs the bare loop when asked, warm after the first time. */
export interface BareLoop {
  run(): Promise<BareLoopResult>;
  stop(): Promise<void>;
}

export async function startBareLoop(options: BareLoopOptions): Promise<BareLoop> {
  const child = startChild('./bare-loop-process.ts');
  await child.ask('prepare', options);
  return { run: () => child.ask<BareLoopResult>('run'), stop: () => child.stop() };
}
