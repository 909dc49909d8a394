/**
 * `npm run bench [-- --quick] [--engine sqlite|kafka] [--store sqlite|postgres] [--brokers N] [--beside N] [--times N] [--endpoints N] [--seconds N] [--json FILE] [--html FILE]`:
 * measures the deliveries per second of the whole service and the cost of each, compared with a bare loop that only posts,
 * and the latency, compared with its floor. They take turns, so that the ratios hold on any machine. `--lateness`,
 * `--replay`, `--isolation`, `--limit`, `--overload`, `--answers`, `--hops`, `--rates`, `--idle`, `--reads`, `--streams`,
 * `--feed`, `--console`, `--recorder`, `--retention` and `--masking` select another measurement; see special/runs.ts.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { messageOf } from '../../services/messages/error-message.ts';
import { createAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { type BareLoop, bareTarget, startBareLoop } from './bare-loop.ts';
import { startBusyLoops } from './busy/busy-loops.ts';
import { type BenchEngine, DATA_DIR, type EngineName, openEngine } from './engines.ts';
import { startFloorMeter } from './floor/floor.ts';
import { type LatencyResult, measureLatency } from './latency.ts';
import { type Options, readOptions, THROUGHPUT_ROWS } from './options.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { besideText, type Failure, type Report, reportJson, reportText } from './report/report.ts';
import { reportHtml } from './report/report-html.ts';
import type { Numbered } from './report/rows.ts';
import { EVENTS_PER_SECOND, SPECIAL_RUNS, type SpecialName } from './special/runs.ts';
import { measureThroughput, type ThroughputResult } from './throughput.ts';

const FULL = {
  slices: { events: 100_000, slices: 3 },
  bare: { warmUpMs: 2000, durationMs: 3000 },
  latency: { seconds: 10, turns: 3 },
} as const;
const QUICK = {
  slices: { events: 10_000, slices: 1 },
  bare: { warmUpMs: 500, durationMs: 1000 },
  latency: { seconds: 5, turns: 1 },
} as const;

type Sizes = typeof FULL | typeof QUICK;

/** The means of every measurement. */
interface Bench {
  readonly receiver: Receiver;
  readonly ca: string;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  mkdirSync(DATA_DIR, { recursive: true });
  const authority = await createAuthority();
  const receiver = await startReceiver(authority);
  const busy = await startBusyLoops(options.beside);
  const bench = { receiver, ca: authority.certPem };
  try {
    if (options.special) await measureSpecial(options.special, options, bench);
    else await measureAll(options, bench);
  } finally {
    await busy.stop();
    await receiver.stop();
  }
}

/** The results so far. */
interface Results {
  readonly throughput: Numbered<ThroughputResult>[];
  readonly latency: Numbered<LatencyResult>[];
  readonly failures: Failure[];
  readonly leftOut: string[];
}

/** Measures throughput and latency, and writes the report. Throws after it if a row failed. */
async function measureAll(options: Options, bench: Bench): Promise<void> {
  const sizes = options.quick ? QUICK : FULL;
  const bare = await startBareLoop({ ...bareTarget(bench), ...sizes.bare });
  // The first run warms up the compiler.
  await bare.run();
  const results: Results = { throughput: [], latency: [], failures: [], leftOut: [] };
  for (const name of options.engines) {
    const one = { ...options, engines: [name] };
    const leftOut = results.leftOut.length;
    // Each run has its own servers, so that none begins with what another has left.
    for (let run = 1; run <= options.times && results.leftOut.length === leftOut; run += 1) {
      await withEach(one, results.leftOut, (engine) =>
        measureEngine(
          { ...bench, engine, store: options.store, endpoints: options.endpoints },
          bare,
          sizes,
          run,
          results,
        ),
      );
    }
  }
  await bare.stop();
  const report: Report = {
    machine: { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.versions.node },
    beside: options.beside,
    quick: options.quick,
    ...results,
  };
  console.log(reportText(report));
  if (options.json) writeFileSync(options.json, reportJson(report));
  if (options.html) writeFileSync(options.html, reportHtml(report));
  const { failures } = results;
  if (failures.length > 0) throw new Error(`${failures.length} of the rows failed, see above`);
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

/** Measures each row. One that fails is noted, and the next one is measured. */
async function measureEngine(
  options: Bench & { readonly engine: BenchEngine } & Pick<Options, 'endpoints' | 'store'>,
  bare: BareLoop,
  sizes: Sizes,
  run: number,
  results: Results,
): Promise<void> {
  const { engine, endpoints } = options;
  const attempt = async (row: string, work: () => Promise<void>) => {
    const what = `${engine.name}, ${row}`;
    say(`${what}, run ${run} …`);
    await work().catch((error: unknown) => {
      say(`${what}, run ${run} failed`);
      results.failures.push({ what, run, message: messageOf(error) });
    });
  };
  for (const row of THROUGHPUT_ROWS) {
    if (endpoints !== null && row.endpoints !== endpoints) continue;
    await attempt(`${row.endpoints} endpoint(s), by ${row.via}`, async () => {
      results.throughput.push({
        run,
        ...(await measureThroughput({ ...options, ...row, ...sizes.slices, bare })),
      });
    });
  }
  if (endpoints !== null) return;
  await attempt('latency', async () => {
    const brokers = engine.kafka?.brokers ?? [];
    const floor = await startFloorMeter({ ...bareTarget(options), folder: DATA_DIR, brokers });
    try {
      const pace = { eventsPerSecond: EVENTS_PER_SECOND, ...sizes.latency };
      results.latency.push({ run, ...(await measureLatency({ ...options, ...pace, floor })) });
    } finally {
      await floor.stop();
    }
  });
}

async function measureSpecial(name: SpecialName, options: Options, bench: Bench): Promise<void> {
  const { title, of, measure } = SPECIAL_RUNS[name];
  const lines: string[] = [];
  const leftOut: string[] = [];
  const figures: unknown[] = [];
  const engines = of === 'every engine' ? options.engines : (['sqlite'] as const);
  await withEach({ ...options, engines }, leftOut, async (engine) => {
    say(`${engine.name}, ${title} …`);
    const measured = await measure({ engine, store: options.store, ...bench }, options);
    figures.push(measured.figures);
    lines.push(measured.text);
  });
  console.log([...lines, ...besideText(options.beside), ...leftOut].join('\n'));
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
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
