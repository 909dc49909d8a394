/**
 * `npm run bench [-- --json FILE] [--html FILE] [--quick] [--engine sqlite|kafka] [--brokers N]`: measures the deliveries per second of
 * the whole service and the cost of each, compared with a bare loop that only posts. The two take turns, so that the ratios
 * hold on any machine. `--lateness`, `--replay`, `--isolation`, `--overload`, `--idle` and `--reads`
 * select another measurement; see special/runs.ts.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { renderBody } from '../../services/domain/versions/render.ts';
import { messageOf } from '../../services/messages/error-message.ts';
import { createAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { type BareLoop, startBareLoop } from './bare-loop.ts';
import { type LatencyResult, measureLatency } from './engine.ts';
import { type BenchEngine, DATA_DIR, ENGINE_NAMES, type EngineName, openEngine } from './engines.ts';
import { makeEvents } from './load.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Report, reportJson, reportText } from './report/report.ts';
import { reportHtml } from './report/report-html.ts';
import { EVENTS_PER_SECOND, SPECIAL_NAMES, SPECIAL_RUNS, type SpecialName } from './special/runs.ts';
import { measureThroughput, type ThroughputResult } from './throughput.ts';

const THROUGHPUT = [
  { endpoints: 1, via: 'engine' },
  { endpoints: 100, via: 'engine' },
  { endpoints: 1, via: 'rest' },
] as const;
const FULL = {
  slices: { events: 100_000, slices: 3 },
  bare: { warmUpMs: 2000, durationMs: 3000 },
  latencySeconds: 30,
  secondsBefore: 30,
  latenessSeconds: 60,
  replayedEvents: 50_000,
  isolation: { endpoints: 1000, eventsPerSecond: 1000, seconds: 30 },
  overload: { calmEvents: 30_000, burstEvents: 100_000 },
  idleSeconds: 60,
  readsSeconds: 60,
  reads: { endpoints: 100_000, events: 2_000_000 },
} as const;
const QUICK = {
  slices: { events: 10_000, slices: 1 },
  bare: { warmUpMs: 500, durationMs: 1000 },
  latencySeconds: 5,
  secondsBefore: 5,
  latenessSeconds: 10,
  replayedEvents: 5000,
  isolation: { endpoints: 100, eventsPerSecond: 200, seconds: 5 },
  overload: { calmEvents: 10_000, burstEvents: 20_000 },
  idleSeconds: 20,
  readsSeconds: 10,
  reads: { endpoints: 2000, events: 200_000 },
} as const;

async function main(): Promise<void> {
  const options = readOptions();
  const sizes = options.quick ? QUICK : FULL;
  mkdirSync(DATA_DIR, { recursive: true });
  const authority = await createAuthority();
  const receiver = await startReceiver(authority);
  const ca = authority.certPem;
  try {
    if (options.special) return await measureSpecial(options.special, options, { receiver, ca });
    const url = `https://localhost:${receiver.ports[0]}/webhooks`;
    const bare = await startBareLoop({ url, ca, body: sampleBody(), ...sizes.bare });
    // The first run warms up the compiler.
    await bare.run();
    const throughput: ThroughputResult[] = [];
    const latency: LatencyResult[] = [];
    const leftOut: string[] = [];
    await withEach(options, leftOut, (engine) =>
      measureEngine({ engine, receiver, ca }, bare, sizes, { throughput, latency }),
    );
    await bare.stop();
    const report: Report = {
      machine: { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.versions.node },
      quick: options.quick,
      throughput,
      latency,
      leftOut,
    };
    console.log(reportText(report));
    if (options.json) writeFileSync(options.json, reportJson(report));
    if (options.html) writeFileSync(options.html, reportHtml(report));
  } finally {
    await receiver.stop();
  }
}

interface Options {
  /** The file for the JSON report, or null. */
  readonly json: string | null;
  /** The file for the report with plots, or null. */
  readonly html: string | null;
  readonly quick: boolean;
  readonly engines: readonly EngineName[];
  /** Whether `--engine` was given: the engine must then be available. */
  readonly isChosen: boolean;
  readonly brokers: number;
  /** A measurement instead of throughput and latency. */
  readonly special: SpecialName | null;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      json: { type: 'string' },
      html: { type: 'string' },
      quick: { type: 'boolean', default: false },
      engine: { type: 'string' },
      brokers: { type: 'string', default: '1' },
      lateness: { type: 'boolean', default: false },
      replay: { type: 'boolean', default: false },
      isolation: { type: 'boolean', default: false },
      overload: { type: 'boolean', default: false },
      reads: { type: 'boolean', default: false },
      idle: { type: 'boolean', default: false },
    },
  });
  const chosen = ENGINE_NAMES.filter((name) => values.engine === undefined || name === values.engine);
  if (chosen.length === 0) throw new Error(`--engine must be one of ${ENGINE_NAMES.join(', ')}`);
  const brokers = Number(values.brokers);
  if (!Number.isInteger(brokers) || brokers < 1 || brokers > 9) throw new Error('--brokers must be 1 to 9');
  const isChosen = values.engine !== undefined;
  const specials = SPECIAL_NAMES.filter((name) => values[name]);
  if (specials.length > 1) throw new Error(`--${specials.join(' and --')} cannot be combined`);
  const { quick, json = null, html = null } = values;
  return { json, html, quick, engines: chosen, isChosen, brokers, special: specials[0] ?? null };
}

/** Starts one engine after the other for the work; adds a line to `leftOut` for each that is not available. */
async function withEach(
  options: Options,
  leftOut: string[],
  work: (engine: BenchEngine) => Promise<void>,
): Promise<void> {
  for (const name of options.engines) {
    const engine = await open(name, options, leftOut);
    if (!engine) continue;
    try {
      await work(engine);
    } finally {
      await engine.stop();
    }
  }
}

/** Starts an engine. Returns undefined if it was not chosen by name and this machine lacks something that it needs. */
async function open(name: EngineName, options: Options, leftOut: string[]): Promise<BenchEngine | undefined> {
  try {
    return await openEngine(name, options);
  } catch (error) {
    if (options.isChosen) throw error;
    leftOut.push(`${name} was skipped: ${messageOf(error)}`);
    return undefined;
  }
}

async function measureEngine(
  options: { readonly engine: BenchEngine; readonly receiver: Receiver; readonly ca: string },
  bare: BareLoop,
  sizes: typeof FULL | typeof QUICK,
  results: { readonly throughput: ThroughputResult[]; readonly latency: LatencyResult[] },
): Promise<void> {
  for (const row of THROUGHPUT) {
    say(`${options.engine.name}, ${row.endpoints} endpoint(s), by ${row.via} …`);
    results.throughput.push(await measureThroughput({ ...options, ...row, ...sizes.slices, bare }));
  }
  say(`${options.engine.name}, latency …`);
  const pace = { eventsPerSecond: EVENTS_PER_SECOND, seconds: sizes.latencySeconds };
  results.latency.push(await measureLatency({ ...options, ...pace }));
}

async function measureSpecial(
  name: SpecialName,
  options: Options,
  run: { readonly receiver: Receiver; readonly ca: string },
): Promise<void> {
  const { title, ofEveryEngine, measure } = SPECIAL_RUNS[name];
  const lines: string[] = [];
  const leftOut: string[] = [];
  const figures: unknown[] = [];
  const engines = ofEveryEngine ? options.engines : (['sqlite'] as const);
  await withEach({ ...options, engines }, leftOut, async (engine) => {
    say(`${engine.name}, ${title} …`);
    const measured = await measure({ engine, ...run }, options.quick ? QUICK : FULL);
    figures.push(measured.figures);
    lines.push(measured.text);
  });
  console.log([...lines, ...leftOut].join('\n'));
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
}

/** Returns a body like those that the engines deliver, for the bare loop. */
function sampleBody(): Uint8Array {
  const [event] = makeEvents(['merchant'], 1, 'bare');
  const rendered = event && renderBody(event, '2.3.8', { senderAccountDetails: true });
  if (rendered?.kind !== 'rendered') throw new Error('the sample event cannot be rendered');
  return rendered.body.slice();
}

/** Prints progress to standard error, because standard output is the report. */
function say(line: string): void {
  console.error(line);
}

// `exit` lets every part clean up.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(1);
});
