/**
 * The baseline, in its own process: undici.request in a loop, posting webhooks that were rendered and signed before the
 * clock starts. It has no queue, no disk and no decisions: the minimum cost of any sender in Node.
 */

import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { signingKey, signWith } from '../../services/domain/signature.ts';
import { webhookHeaders } from '../../services/domain/webhook-request.ts';
import type { BareLoopOptions, BareLoopResult } from './bare-loop.ts';
import { answer } from './child.ts';

const CONNECTIONS = 64;
/** The number of different requests, sent in turn, so that no cache sees the same one twice in a row. */
const REQUESTS = 2000;
/** A secret of the right length and format; the receiver does not check it. */
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let load: (BareLoopOptions & { readonly requests: readonly Prepared[]; readonly agent: Agent }) | undefined;

answer({
  prepare(options: BareLoopOptions) {
    const agent = new Agent({ connections: CONNECTIONS, pipelining: 1, connect: { ca: options.ca } });
    load = { ...options, requests: prepare(options.body), agent };
  },
  run,
});

async function run(): Promise<BareLoopResult> {
  if (!load) throw new Error('not prepared');
  const { url, agent, requests, warmUpMs, durationMs } = load;
  const counter = { sent: 0, stopped: false };
  const loops = Array.from({ length: CONNECTIONS }, () => loop(url, agent, requests, counter));
  await sleep(warmUpMs);
  const before = { sent: counter.sent, cpu: process.cpuUsage(), at: performance.now() };
  await sleep(durationMs);
  const cpu = process.cpuUsage(before.cpu);
  const seconds = (performance.now() - before.at) / 1000;
  const deliveries = counter.sent - before.sent;
  counter.stopped = true;
  await Promise.all(loops);
  return {
    deliveries,
    seconds,
    deliveriesPerSecond: deliveries / seconds,
    cpuMicrosPerDelivery: (cpu.user + cpu.system) / deliveries,
  };
}

interface Prepared {
  readonly headers: string[];
  readonly body: Uint8Array;
}

function prepare(body: Uint8Array): Prepared[] {
  const key = signingKey(SECRET);
  const startedAt = Date.now();
  return Array.from({ length: REQUESTS }, () => {
    const delivery = {
      deliveryId: randomUUID(),
      eventId: randomUUID(),
      endpointId: randomUUID(),
      ...{ entityId: randomUUID(), subjectId: randomUUID(), sequence: startedAt * 1000 },
      apiVersion: '2.3.8',
      trigger: 'live',
      attempt: 1,
      occurredAt: startedAt,
    } as const;
    const signature = signWith(key, delivery.eventId, Math.floor(startedAt / 1000), body);
    return { headers: webhookHeaders({ delivery, startedAt, signature }, `API-Key ${SECRET}`), body };
  });
}

async function loop(
  url: string,
  dispatcher: Agent,
  requests: readonly Prepared[],
  counter: { sent: number; stopped: boolean },
): Promise<void> {
  for (let i = Math.floor(Math.random() * REQUESTS); !counter.stopped; i += 1) {
    const next = requests[i % REQUESTS];
    if (!next) return;
    const response = await request(url, {
      dispatcher,
      method: 'POST',
      headers: next.headers,
      body: next.body,
    });
    if (response.statusCode !== 200) throw new Error(`the receiver responded with ${response.statusCode}`);
    await response.body.dump();
    counter.sent += 1;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
