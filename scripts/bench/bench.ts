/**
 * `npm run bench [-- --json FILE] [--quick]`: how many deliveries a second the whole service makes and what each costs,
 * beside a bare loop that only posts. The bare loop runs before and after, so that the ratios hold on any machine.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { renderBody } from '../../services/domain/versions/render.ts';
import { createAuthority } from '../../simulator/certificate-authority.ts';
import { runBareLoop } from './bare-loop.ts';
import { type LatencyResult, measureLatency, measureThroughput, type ThroughputResult } from './engine.ts';
import { makeEvents } from './load.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Report, reportJson, reportText } from './report.ts';
import type { Engine } from './service.ts';

/** Each engine is one group of rows. */
const ENGINES: readonly Engine[] = [{ name: 'sqlite', environment: { HOOKRAIL_ENGINE: 'sqlite' } }];

const THROUGHPUT = [
  { endpoints: 1, via: 'engine' },
  { endpoints: 100, via: 'engine' },
  { endpoints: 1, via: 'rest' },
] as const;
const EVENTS_PER_SECOND = 200;
const FULL = { events: 100_000, bareMs: 10_000, warmUpMs: 3000, latencySeconds: 30 } as const;
const QUICK = { events: 10_000, bareMs: 2000, warmUpMs: 1000, latencySeconds: 5 } as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'string' }, quick: { type: 'boolean', default: false } },
  });
  const sizes = values.quick ? QUICK : FULL;
  const authority = await createAuthority();
  const receiver = await startReceiver(authority);
  const ca = authority.certPem;
  const bareLoop = () => {
    say('bare loop …');
    const url = `https://localhost:${receiver.port}/webhooks`;
    return runBareLoop({ url, ca, body: sampleBody(), warmUpMs: sizes.warmUpMs, durationMs: sizes.bareMs });
  };
  try {
    const before = await bareLoop();
    const throughput: ThroughputResult[] = [];
    const latency: LatencyResult[] = [];
    for (const engine of ENGINES) await measureEngine({ engine, receiver, ca }, sizes, throughput, latency);
    const report: Report = {
      machine: { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.versions.node },
      quick: values.quick,
      bare: [before, await bareLoop()],
      throughput,
      latency,
    };
    console.log(reportText(report));
    if (values.json) writeFileSync(values.json, reportJson(report));
  } finally {
    await receiver.stop();
  }
}

async function measureEngine(
  options: { readonly engine: Engine; readonly receiver: Receiver; readonly ca: string },
  sizes: { readonly events: number; readonly latencySeconds: number },
  throughput: ThroughputResult[],
  latency: LatencyResult[],
): Promise<void> {
  for (const row of THROUGHPUT) {
    say(`${options.engine.name}, ${row.endpoints} endpoint(s), by ${row.via} …`);
    throughput.push(await measureThroughput({ ...options, ...row, events: sizes.events }));
  }
  say(`${options.engine.name}, latency …`);
  const pace = { eventsPerSecond: EVENTS_PER_SECOND, seconds: sizes.latencySeconds };
  latency.push(await measureLatency({ ...options, ...pace }));
}

/** The body that the engines deliver, so that the bare loop carries the same. */
function sampleBody(): Uint8Array {
  const [event] = makeEvents(['merchant'], 1, 'bare');
  const rendered = event && renderBody(event, '2.3.8', { senderAccountDetails: true });
  if (rendered?.kind !== 'rendered') throw new Error('the sample event cannot be rendered');
  return rendered.body.slice();
}

/** Progress goes to standard error: standard output is the report. */
function say(line: string): void {
  console.error(line);
}

// Ending by `exit` lets every part clean up behind itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
