import { type Counts, worstCounts } from '../counts.ts';
import type { LatencyResult } from '../latency.ts';
import type { ServerResult, ThroughputResult } from '../throughput.ts';

/** The figures of a row that may be better or worse. */
export type ThroughputFigures = Pick<
  ThroughputResult,
  | 'deliveriesPerSecond'
  | 'ratios'
  | 'cpuMicrosPerDelivery'
  | 'pssPeakMib'
  | 'writtenBytesPerDelivery'
  | 'duplicates'
  | 'parked'
  | 'brokers'
  | 'store'
>;

export type LatencyFigures = Pick<
  LatencyResult,
  'p50Ms' | 'p99Ms' | 'p999Ms' | 'maxMs' | 'ratios' | 'parked'
>;

/** Returns each figure of the run in which it was worst. Throws without a run. */
export function worstThroughput(runs: readonly ThroughputFigures[]): ThroughputFigures {
  const most = (of: (run: ThroughputFigures) => number) => Math.max(...defined(runs).map(of));
  const least = (of: (run: ThroughputFigures) => number) => Math.min(...defined(runs).map(of));
  return {
    deliveriesPerSecond: least((run) => run.deliveriesPerSecond),
    ratios: { throughput: least(({ ratios }) => ratios.throughput), cpu: most(({ ratios }) => ratios.cpu) },
    cpuMicrosPerDelivery: most((run) => run.cpuMicrosPerDelivery),
    pssPeakMib: most((run) => run.pssPeakMib),
    writtenBytesPerDelivery: most((run) => run.writtenBytesPerDelivery),
    duplicates: most((run) => run.duplicates),
    parked: worstParked(runs),
    brokers: worstBrokers(runs.flatMap(({ brokers }) => brokers ?? [])),
    store: worstServer(runs.flatMap(({ store }) => store ?? [])),
  };
}

export function worstLatency(runs: readonly LatencyFigures[]): LatencyFigures {
  const most = (of: (run: LatencyFigures) => number) => Math.max(...defined(runs).map(of));
  return {
    p50Ms: most((run) => run.p50Ms),
    p99Ms: most((run) => run.p99Ms),
    p999Ms: most((run) => run.p999Ms),
    maxMs: most((run) => run.maxMs),
    ratios: { p50: most(({ ratios }) => ratios.p50), p99: most(({ ratios }) => ratios.p99) },
    parked: worstParked(runs),
  };
}

function worstParked(runs: readonly { readonly parked: Counts }[]): Counts {
  return worstCounts(runs.map(({ parked }) => parked));
}

function worstBrokers(
  runs: readonly NonNullable<ThroughputResult['brokers']>[],
): ThroughputResult['brokers'] {
  const worst = worstServer(runs);
  return worst && { ...worst, count: Math.max(...runs.map(({ count }) => count)) };
}

function worstServer(runs: readonly ServerResult[]): ServerResult | null {
  const most = (of: keyof ServerResult) => Math.max(...runs.map((run) => run[of]));
  if (runs.length === 0) return null;
  return {
    cpuMicrosPerDelivery: most('cpuMicrosPerDelivery'),
    pssPeakMib: most('pssPeakMib'),
    writtenBytesPerDelivery: most('writtenBytesPerDelivery'),
  };
}

function defined<Run>(runs: readonly Run[]): readonly Run[] {
  if (runs.length === 0) throw new Error('there is no run to compare');
  return runs;
}
