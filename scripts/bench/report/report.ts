import type { LatencyResult } from '../engine.ts';
import { latencyText } from '../measure.ts';
import type { BrokersResult, ThroughputResult } from '../throughput.ts';
import { ELSEWHERE } from './elsewhere.ts';

/** All results of one run of the benchmark. */
export interface Report {
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
  /** A quick run only checks that the benchmark works: its figures are noisy. */
  readonly quick: boolean;
  readonly throughput: readonly ThroughputResult[];
  readonly latency: readonly LatencyResult[];
  /** Engines that could not be measured here, with the reason. */
  readonly leftOut: readonly string[];
}

export function reportJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

const HEADINGS = [
  '',
  ...['deliveries/s', '× bare', 'CPU µs each', '× bare', 'PSS MiB', 'disk B each', 'repeats', 'parked'],
  ...['brokers: CPU µs each', 'PSS MiB', 'disk B each'],
];

/** Returns the text report: absolute figures, and their ratios to the bare loop that ran between the row's slices. */
export function reportText(report: Report): string {
  const rows = [
    HEADINGS,
    ...report.throughput.flatMap((row) => [
      ['bare loop', whole(row.bare.deliveriesPerSecond), '', whole(row.bare.cpuMicrosPerDelivery)],
      [
        `${nameOf(row.engine, row.brokers?.count ?? 0)}, ${plural(row.endpoints, 'endpoint')}${row.via === 'rest' ? ', over REST' : ''}`,
        whole(row.deliveriesPerSecond),
        row.ratios.throughput.toFixed(2),
        whole(row.cpuMicrosPerDelivery),
        row.ratios.cpu.toFixed(2),
        whole(row.pssPeakMib),
        whole(row.writtenBytesPerDelivery),
        whole(row.duplicates),
        whole(row.parked),
        ...(row.brokers ? brokersOf(row.brokers) : []),
      ],
    ]),
  ];
  const latency = report.latency.map(
    (row) =>
      `${nameOf(row.engine, row.brokers)}: ${row.events} events at ${row.eventsPerSecond}/s, from post to arrival: ` +
      latencyText(row),
  );
  const elsewhere = ELSEWHERE.map(
    ({ system, eventsPerSecond, p50Ms, p99Ms }) =>
      `measured elsewhere, ${system}: ${eventsPerSecond}/s: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
  );
  const { cpus, model, node } = report.machine;
  const machine = `${cpus} CPUs (${model}), Node ${node}; receiver and producer share them with the service and its brokers`;
  return [
    table(rows),
    '',
    ...latency,
    ...(latency.length > 0 ? elsewhere : []),
    '',
    machine,
    ...report.leftOut,
    ...(report.quick ? ['quick run: figures are noisy'] : []),
  ].join('\n');
}

function brokersOf(brokers: BrokersResult): string[] {
  return [
    whole(brokers.cpuMicrosPerDelivery),
    whole(brokers.pssPeakMib),
    whole(brokers.writtenBytesPerDelivery),
  ];
}

/** Returns the engine's name, with the number of its brokers if it has any. */
export function nameOf(engine: string, brokers: number): string {
  return brokers === 0 ? engine : `${engine} (${plural(brokers, 'broker')})`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Formats columns as wide as their widest cell, with names aligned left and figures aligned right. */
function table(rows: readonly (readonly string[])[]): string {
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
