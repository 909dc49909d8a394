import { startChild } from './child.ts';

export interface BareLoopOptions {
  readonly url: string;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
  /** The body of every request. */
  readonly body: Uint8Array;
  /** Before each run, to reopen connections closed meanwhile, and to let the kernel finish the service's writes. */
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

/** A process that runs the bare loop on request, warmed up after the first run. */
export interface BareLoop {
  run(): Promise<BareLoopResult>;
  stop(): Promise<void>;
}

export async function startBareLoop(options: BareLoopOptions): Promise<BareLoop> {
  const child = startChild('./bare-loop-process.ts');
  await child.ask('prepare', options);
  return { run: () => child.ask<BareLoopResult>('run'), stop: () => child.stop() };
}
