import { type LatencyResult, latencyName } from '../latency.ts';
import { latencyText } from '../measure.ts';
import { parkedLater, parkedSoon } from '../parked.ts';
import type { ThroughputResult } from '../throughput.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { plural } from './names.ts';
import { groupsOf, type Numbered, type Rows, rowName, throughputRows, trafficRows } from './rows.ts';
import { type LatencyFigures, worstLatency, worstThroughput } from './worst.ts';

/** All results of one start of the benchmark. */
export interface Report {
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
  /** Busy loops that ran beside everything. */
  readonly beside: number;
  /** A quick run only checks that the benchmark works: its figures are noisy. */
  readonly quick: boolean;
  readonly throughput: readonly Numbered<ThroughputResult>[];
  readonly latency: readonly Numbered<LatencyResult>[];
  /** Rows that ended with an error. */
  readonly failures: readonly Failure[];
  /** Engines that could not be measured here, with the reason. */
  readonly leftOut: readonly string[];
}

export interface Failure {
  readonly what: string;
  readonly run: number;
  readonly message: string;
}

/** Returns all results, with the worst figures of what ran several times. */
export function reportJson(report: Report): string {
  const worst = {
    throughput: groupsOf(report.throughput, rowName).map(([name, runs]) => ({
      ...{ name, runs: runs.length, ...worstThroughput(runs) },
    })),
    latency: groupsOf(report.latency, latencyName).map(([name, runs]) => ({
      ...{ name, runs: runs.length, ...worstLatency(runs) },
    })),
  };
  return `${JSON.stringify({ ...report, worst }, null, 2)}\n`;
}

/** Returns the text report: absolute figures, and their ratios to the bare loop that ran between the row's slices. */
export function reportText(report: Report): string {
  const traffic = trafficRows(report.throughput);
  const elsewhere = ELSEWHERE.map(
    ({ system, eventsPerSecond, p50Ms, p99Ms }) =>
      `measured elsewhere, ${system}: ${eventsPerSecond}/s: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
  );
  return [
    table(throughputRows(report.throughput)),
    ...(traffic.length > 0 ? ['', table(traffic)] : []),
    '',
    ...latencyLines(report.latency),
    ...(report.latency.length > 0 ? elsewhere : []),
    '',
    ...notesOf(report),
  ].join('\n');
}

/** Returns a line for each result and its floor, and for the worst of several runs. */
function latencyLines(all: readonly Numbered<LatencyResult>[]): string[] {
  return [
    ...all.flatMap((row) => [
      `${latencyName(row)}${all.some(({ run }) => run > 1) ? `, run ${row.run}` : ''}: ${row.events} events, ` +
        `from post to arrival: ${latencyFigures(row)}`,
      `  ${floorText(row)}`,
    ]),
    ...groupsOf(all, latencyName).map(
      ([name, runs]) => `worst of ${runs.length}: ${name}: ${latencyFigures(worstLatency(runs))}`,
    ),
  ];
}

function latencyFigures(figures: LatencyFigures): string {
  const { ratios, parked } = figures;
  return (
    `${latencyText(figures)}; ${ratiosText(ratios)}; ` +
    `${parkedSoon(parked)} tasks parked for 3 s, ${parkedLater(parked)} for longer`
  );
}

export function ratiosText({ p50, p99 }: LatencyResult['ratios']): string {
  return `p50 ${p50.toFixed(2)} × floor, p99 ${p99.toFixed(2)} × that of the floor`;
}

export function floorText({ floor }: Pick<LatencyResult, 'floor'>): string {
  const ms = (value: number) => `${value.toFixed(2)} ms`;
  const kafka = floor.produceAndFetchMs === null ? '' : ` + produce and fetch ${ms(floor.produceAndFetchMs)}`;
  return (
    `floor ${ms(floor.ms)}: fdatasync of 2 KB and a request ${ms(floor.diskAndRequestMs)}${kafka} ` +
    `(fdatasync alone ${ms(floor.diskMs)}, request alone ${ms(floor.requestMs)}), each at the median; its own p99 ${ms(floor.p99Ms)}`
  );
}

/** Returns what a reader of the figures must know. */
export function notesOf({ machine, beside, quick, failures, leftOut }: Report): string[] {
  const { cpus, model, node } = machine;
  return [
    `${cpus} CPUs (${model}), Node ${node}; receiver and producer share them with the service and its brokers`,
    ...besideText(beside),
    ...failures.map(({ what, run, message }) => `FAILED: ${what}, run ${run}: ${message}`),
    ...leftOut,
    ...(quick ? ['quick run: figures are noisy'] : []),
  ];
}

/** Returns a line that names the busy loops, if there were any. */
export function besideText(beside: number): string[] {
  return beside === 0
    ? []
    : [`beside it, and beside all it is compared with: ${plural(beside, 'busy loop')}`];
}

/** Formats columns as wide as their widest cell, with names aligned left and figures aligned right. */
function table(rows: Rows): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
