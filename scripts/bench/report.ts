import type { BareLoopResult } from './bare-loop.ts';
import type { LatencyResult, ThroughputResult } from './engine.ts';

/** Everything one run of the benchmark found. */
export interface Report {
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
  /** A quick run is a check that the benchmark works: its figures are noisy. */
  readonly quick: boolean;
  /** Before and after the engines: the difference says how steady the machine was. */
  readonly bare: readonly BareLoopResult[];
  readonly throughput: readonly ThroughputResult[];
  readonly latency: readonly LatencyResult[];
}

interface Ratios {
  readonly throughput: number;
  readonly cpu: number;
}

/** A row against the mean of the bare loops: throughput (more is better) and CPU per delivery (less is better). */
function ratiosOf(report: Pick<Report, 'bare'>, row: ThroughputResult): Ratios {
  return {
    throughput: row.deliveriesPerSecond / mean(report.bare.map((loop) => loop.deliveriesPerSecond)),
    cpu: row.cpuMicrosPerDelivery / mean(report.bare.map((loop) => loop.cpuMicrosPerDelivery)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The report as JSON, ratios included. */
export function reportJson(report: Report): string {
  const throughput = report.throughput.map((row) => ({ ...row, ratios: ratiosOf(report, row) }));
  return `${JSON.stringify({ ...report, throughput }, null, 2)}\n`;
}

/** The report for people: absolutes, and beside them the ratios to the bare loop of the same run. */
export function reportText(report: Report): string {
  const rows = [
    ['', 'deliveries/s', '× bare', 'CPU µs each', '× bare', 'PSS MiB', 'disk B each', 'repeats', 'parked'],
    ...report.bare.map((loop, i) => [
      `bare loop, ${i === 0 ? 'before' : 'after'}`,
      whole(loop.deliveriesPerSecond),
      '',
      whole(loop.cpuMicrosPerDelivery),
      ...['', '', '', '', ''],
    ]),
    ...report.throughput.map((row) => {
      const ratios = ratiosOf(report, row);
      return [
        `${row.engine}, ${row.endpoints} endpoint${row.endpoints === 1 ? '' : 's'}${row.via === 'rest' ? ', by REST' : ''}`,
        whole(row.deliveriesPerSecond),
        ratios.throughput.toFixed(2),
        whole(row.cpuMicrosPerDelivery),
        ratios.cpu.toFixed(2),
        whole(row.pssPeakMib),
        whole(row.writtenBytesPerDelivery),
        whole(row.duplicates),
        whole(row.parked),
      ];
    }),
  ];
  const latency = report.latency.map(
    (row) =>
      `${row.engine}: ${row.events} events at ${row.eventsPerSecond}/s, from post to arrival: ` +
      `p50 ${row.p50Ms.toFixed(1)} ms, p99 ${row.p99Ms.toFixed(1)} ms, max ${row.maxMs.toFixed(1)} ms`,
  );
  const { cpus, model, node } = report.machine;
  const machine = `${cpus} CPUs (${model}), Node ${node}; receiver and producer share them with the service`;
  return [
    table(rows),
    '',
    ...latency,
    '',
    machine,
    ...(report.quick ? ['quick run: figures are noisy'] : []),
  ].join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Columns as wide as their widest cell; names to the left, figures to the right. */
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
