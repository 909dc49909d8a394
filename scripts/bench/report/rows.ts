import type { Traffic } from '../kafka/traffic.ts';
import { parkedLater, parkedSoon } from '../parked.ts';
import type { ServerResult, ThroughputResult } from '../throughput.ts';
import { nameOf, plural } from './names.ts';
import { type ThroughputFigures, worstThroughput } from './worst.ts';

/** A result of one run of several (`--times`), from 1. */
export type Numbered<Result> = Result & { readonly run: number };

/** A table of texts; the first row has the headings. */
export type Rows = readonly (readonly string[])[];

const HEADINGS = [
  '',
  ...['deliveries/s', '× bare', 'CPU µs each', '× bare', 'PSS MiB', 'disk B each', 'repeats'],
  ...['parked 3 s', 'parked longer', 'brokers: CPU µs each', 'PSS MiB', 'disk B each'],
];
const STORE_HEADINGS = ['PostgreSQL: CPU µs each', 'PSS MiB', 'disk B each'];

/** Returns each row with the bare loop that ran between its slices, and the worst of several runs. */
export function throughputRows(all: readonly Numbered<ThroughputResult>[]): Rows {
  return [
    [...HEADINGS, ...(all.some(({ store }) => store !== null) ? STORE_HEADINGS : [])],
    ...all.flatMap((row) => [
      ['bare loop', whole(row.bare.deliveriesPerSecond), '', whole(row.bare.cpuMicrosPerDelivery)],
      [numberedName(row, all), ...figuresOf(row)],
    ]),
    ...groupsOf(all, rowName).map(([name, runs]) => [
      `worst of ${runs.length}: ${name}`,
      ...figuresOf(worstThroughput(runs)),
    ]),
  ];
}

export function rowName({ engine, brokers, endpoints, via }: ThroughputResult): string {
  return `${nameOf(engine, brokers?.count ?? 0)}, ${plural(endpoints, 'endpoint')}${via === 'rest' ? ', over REST' : ''}`;
}

/** Returns the row's name, with the number of its run if there are several. */
export function numberedName(
  row: Numbered<ThroughputResult>,
  all: readonly Numbered<ThroughputResult>[],
): string {
  return all.some(({ run }) => run > 1) ? `${rowName(row)}, run ${row.run}` : rowName(row);
}

/** Returns the results of several runs by name; nothing for what ran once. */
export function groupsOf<Result>(
  all: readonly Numbered<Result>[],
  nameFor: (result: Result) => string,
): [name: string, runs: Numbered<Result>[]][] {
  const groups = new Map<string, Numbered<Result>[]>();
  for (const result of all) {
    const name = nameFor(result);
    groups.set(name, [...(groups.get(name) ?? []), result]);
  }
  return [...groups].filter(([, runs]) => runs.length > 1);
}

function figuresOf(figures: ThroughputFigures): string[] {
  const { ratios, brokers, store } = figures;
  return [
    whole(figures.deliveriesPerSecond),
    ratios.throughput.toFixed(2),
    whole(figures.cpuMicrosPerDelivery),
    ratios.cpu.toFixed(2),
    whole(figures.pssPeakMib),
    whole(figures.writtenBytesPerDelivery),
    whole(figures.duplicates),
    whole(parkedSoon(figures.parked)),
    whole(parkedLater(figures.parked)),
    ...(brokers ? serverFigures(brokers) : []),
    ...(store ? serverFigures(store) : []),
  ];
}

function serverFigures({ cpuMicrosPerDelivery, pssPeakMib, writtenBytesPerDelivery }: ServerResult) {
  return [cpuMicrosPerDelivery, pssPeakMib, writtenBytesPerDelivery].map(whole);
}

const REQUESTS = ['Produce', 'Fetch', 'OffsetCommit'] as const;
const KINDS = ['events', 'deliver', 'journal', 'retry'];

/** Returns requests and records per delivery; records as written / read. Nothing without brokers. */
export function trafficRows(all: readonly Numbered<ThroughputResult>[]): Rows {
  const rows = all.flatMap((row) => (row.traffic ? [{ row, traffic: row.traffic }] : []));
  if (rows.length === 0) return [];
  const found = new Set(
    rows.flatMap(({ traffic }) => Object.keys({ ...traffic.produced, ...traffic.fetched })),
  );
  const kinds = [...KINDS, ...[...found].filter((kind) => !KINDS.includes(kind)).sort()];
  return [
    ['per delivery', ...REQUESTS, 'other requests', ...kinds.map((kind) => `${kind}: written / read`)],
    ...rows.map(({ row, traffic }) => [
      numberedName(row, all),
      ...requestsOf(traffic),
      ...kinds.map((kind) => `${share(traffic.produced[kind])} / ${share(traffic.fetched[kind])}`),
    ]),
  ];
}

function requestsOf({ requests }: Traffic): string[] {
  const named: readonly string[] = REQUESTS;
  const others = Object.entries(requests).filter(([name]) => !named.includes(name));
  const other = others.reduce((sum, [, count]) => sum + count, 0);
  return [...REQUESTS.map((name) => requests[name]), other].map(share);
}

const share = (count = 0): string => count.toFixed(3);

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
