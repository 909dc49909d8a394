import { startChild } from './child.ts';

export interface BareLoopOptions {
  readonly url: string;
  /** PEM of the authority that signed the receiver's certificate. */
  readonly ca: string;
  /** The body every request carries. */
  readonly body: Uint8Array;
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

/** Runs the bare loop once, in a process of its own. */
export async function runBareLoop(options: BareLoopOptions): Promise<BareLoopResult> {
  const child = startChild('./bare-loop-process.ts');
  try {
    return await child.ask<BareLoopResult>('run', options);
  } finally {
    await child.stop();
  }
}
