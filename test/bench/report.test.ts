/** The report of the benchmark: what a reader finds in its text, its JSON and its HTML. */
import { describe, expect, test } from 'vitest';
import { type Report, reportJson, reportText } from '../../scripts/bench/report/report.ts';
import { reportHtml } from '../../scripts/bench/report/report-html.ts';

type Throughput = Report['throughput'][number];
type Latency = Report['latency'][number];

const BARE = { deliveries: 1000, seconds: 1, deliveriesPerSecond: 10_000, cpuMicrosPerDelivery: 50 };

const throughput = (row: Partial<Throughput> = {}): Throughput => ({
  ...{ run: 1, engine: 'sqlite', via: 'engine', endpoints: 1, deliveries: 1000, seconds: 0.2 },
  ...{ deliveriesPerSecond: 5000, cpuMicrosPerDelivery: 100, duplicates: 0, pssPeakMib: 200, parked: {} },
  ...{ writtenBytesPerDelivery: 4000, brokers: null, store: null, traffic: null, bare: BARE },
  ratios: { throughput: 0.5, cpu: 2 },
  ...row,
});

const KAFKA: Partial<Throughput> = {
  engine: 'kafka',
  brokers: { count: 1, cpuMicrosPerDelivery: 44, pssPeakMib: 900, writtenBytesPerDelivery: 3000 },
  traffic: {
    requests: { Produce: 0.011, Fetch: 0.022, OffsetCommit: 0.003, Heartbeat: 0.004, Metadata: 0.001 },
    produced: { events: 1, deliver: 1, journal: 0.125 },
    fetched: { events: 1, deliver: 1.5, journal: 0.125 },
  },
};

const latency = (row: Partial<Latency> = {}): Latency => ({
  ...{ run: 1, engine: 'sqlite', brokers: 0, eventsPerSecond: 200, events: 1000, deliveries: 1000 },
  ...{ p50Ms: 3, p99Ms: 8, p999Ms: 20, maxMs: 30, parked: {} },
  floor: { diskMs: 1.25, requestMs: 0.5, diskAndRequestMs: 2, produceAndFetchMs: null, ms: 2, p99Ms: 4 },
  ratios: { p50: 1.5, p99: 4 },
  ...row,
});

const report = (parts: Partial<Report> = {}): Report => ({
  machine: { cpus: 2, model: 'a <model>', node: '20.0.0' },
  ...{ beside: 0, quick: false, throughput: [throughput()], latency: [latency()], failures: [], leftOut: [] },
  ...parts,
});

/** Returns the cells of the line that begins with this name. */
const cellsOf = (text: string, name: string): string[] => {
  const line = text.split('\n').find((each) => each.startsWith(name));
  return line?.slice(name.length).trim().split(/ {2,}/) ?? [];
};

describe('the report of the benchmark', () => {
  test('shows tasks that wait on the shortest tier apart from those that wait longer', () => {
    const parked = { 3: 40, 66: 2, 731: 1 };
    const text = reportText(report({ throughput: [throughput({ parked })], latency: [latency({ parked })] }));
    const cells = cellsOf(text, 'sqlite, 1 endpoint');
    expect(cells.slice(-2)).toEqual(['40', '3']);
    expect(text).toContain('40 tasks parked for 3 s, 3 for longer');
  });

  test('shows the latency with its floor and the ratios to it', () => {
    const floor = {
      diskMs: 1.25,
      requestMs: 0.5,
      diskAndRequestMs: 2,
      produceAndFetchMs: 3,
      ms: 5,
      p99Ms: 9,
    };
    const kafka = latency({ engine: 'kafka', brokers: 1, floor, ratios: { p50: 0.6, p99: 1.6 } });
    const text = reportText(report({ latency: [latency(), kafka] }));
    expect(text).toContain('p50 1.50 × floor, p99 4.00 × that of the floor');
    expect(text).toContain('floor 2.00 ms: fdatasync of 2 KB and a request 2.00 ms (fdatasync alone 1.25 ms');
    expect(text).toContain(
      'floor 5.00 ms: fdatasync of 2 KB and a request 2.00 ms + produce and fetch 3.00 ms',
    );
    expect(reportHtml(report())).toContain('1.50 × floor');
    expect(reportHtml(report())).toContain('4.00 × that of the floor');
  });

  test('shows requests, and records written and read, per delivery with Kafka only', () => {
    const text = reportText(report({ throughput: [throughput(), throughput(KAFKA)] }));
    const table = text.slice(text.indexOf('per delivery'));
    expect(cellsOf(table, 'kafka (1 broker), 1 endpoint')).toEqual([
      ...['0.011', '0.022', '0.003', '0.005'],
      ...['1.000 / 1.000', '1.000 / 1.500', '0.125 / 0.125', '0.000 / 0.000'],
    ]);
    expect(table).not.toContain('sqlite, 1 endpoint');
    expect(reportText(report())).not.toContain('per delivery');
  });

  test('shows what the store’s server uses beside the brokers, where there is one', () => {
    const store = { cpuMicrosPerDelivery: 77, pssPeakMib: 600, writtenBytesPerDelivery: 5000 };
    const onPostgres = throughput({ ...KAFKA, engine: 'kafka and PostgreSQL', store });
    const text = reportText(report({ throughput: [throughput(KAFKA), onPostgres] }));
    expect(text.split('\n')[0]).toMatch(/ PostgreSQL: CPU µs each +PSS MiB +disk B each$/);
    expect(cellsOf(text, 'kafka and PostgreSQL (1 broker), 1 endpoint').slice(-3)).toEqual([
      ...['77', '600', '5,000'],
    ]);
    expect(reportText(report())).not.toContain('PostgreSQL: CPU');
  });

  test('shows every run, and each figure of the one in which it was worst', () => {
    const runs = [
      throughput({
        run: 1,
        deliveriesPerSecond: 4000,
        ratios: { throughput: 0.6, cpu: 2 },
        parked: { 3: 5 },
      }),
      throughput({
        run: 2,
        deliveriesPerSecond: 6000,
        ratios: { throughput: 0.4, cpu: 1.5 },
        parked: { 66: 1 },
      }),
    ];
    const latencies = [latency({ run: 1, p99Ms: 9 }), latency({ run: 2, p50Ms: 7 })];
    const both = report({ throughput: runs, latency: latencies });
    const text = reportText(both);
    expect(cellsOf(text, 'sqlite, 1 endpoint, run 2')[0]).toBe('6,000');
    expect(cellsOf(text, 'worst of 2: sqlite, 1 endpoint')).toEqual([
      ...['4,000', '0.40', '100', '2.00', '200', '4,000', '0', '5', '1'],
    ]);
    expect(text).toContain('worst of 2: sqlite at 200/s: p50 7.0 ms, p99 9.0 ms');
    const { worst } = JSON.parse(reportJson(both));
    expect(worst.throughput).toMatchObject([{ runs: 2, deliveriesPerSecond: 4000, parked: { 3: 5, 66: 1 } }]);
    expect(worst.latency).toMatchObject([{ runs: 2, p50Ms: 7, p99Ms: 9 }]);
    expect(reportHtml(both)).toContain('sqlite, 1 endpoint, run 2');
  });

  test('has no worst row for what ran once', () => {
    expect(reportText(report())).not.toMatch(/worst|run 1/);
    expect(JSON.parse(reportJson(report())).worst).toEqual({ throughput: [], latency: [] });
  });

  test('names busy loops and rows that failed', () => {
    const failures = [{ what: 'kafka, latency', run: 3, message: 'only 5 of 10 arrived' }];
    const failed = report({ beside: 2, throughput: [], latency: [], failures });
    const text = reportText(failed);
    expect(text).toContain('FAILED: kafka, latency, run 3: only 5 of 10 arrived');
    expect(text).toMatch(/beside it.*2 busy loops/);
    expect(reportHtml(failed)).toContain('FAILED: kafka, latency, run 3');
  });

  test('escapes what it did not write itself', () => {
    expect(reportHtml(report())).toContain('a &#60;model&#62;');
  });
});
