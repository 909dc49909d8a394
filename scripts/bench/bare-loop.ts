import { renderBody } from '../../services/domain/versions/render.ts';
import { startChild } from './child.ts';
import { makeEvents } from './load.ts';
import type { Receiver } from './receiver.ts';

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

/** Returns what the bare loop and the floor post, and where. */
export function bareTarget({ receiver, ca }: { readonly receiver: Receiver; readonly ca: string }) {
  return { url: `https://localhost:${receiver.ports[0]}/webhooks`, ca, body: sampleBody() };
}

/** Returns a body like those that the engines deliver, for the bare loop. */
function sampleBody(): Uint8Array {
  const [event] = makeEvents(['merchant'], 1, 'bare');
  const rendered = event && renderBody(event, '2.3.8', { senderAccountDetails: true });
  if (rendered?.kind !== 'rendered') throw new Error('the sample event cannot be rendered');
  return rendered.body.slice();
}
