import { consoleText, measureConsole } from '../console/console.ts';
import type { RunOptions } from '../engine.ts';
import { maskingText, measureMasking } from '../masking/masking.ts';
import { dropLeafText, measureDropLeaf } from '../postgres/drop-leaf.ts';
import { measurePortReads, type PortReadsResult, portReadsText } from '../postgres/measure-reads.ts';
import { ORIGINS } from '../receiver.ts';
import { measureRecorder, recorderText } from '../recorder/recorder.ts';
import { answersText, measureAnswers } from './answers.ts';
import { feedText, measureFeed } from './feed.ts';
import { hopsText, measureHops } from './hops.ts';
import { idleText, measureIdle } from './idle.ts';
import { isolationText, measureIsolation } from './isolation.ts';
import { latenessText, measureLateness } from './lateness.ts';
import { limitText, measureLimit } from './limit.ts';
import { measureOverload, overloadText } from './overload.ts';
import { measureRates, ratesText } from './rates.ts';
import { measureReads, type ReadsResult, readsText } from './reads.ts';
import { measureReplay, replayText } from './replay.ts';
import { measureStreams, streamsText } from './streams.ts';

/** Live events per second while something else is measured. */
export const EVENTS_PER_SECOND = 200;
const RETRIED_EVENTS_PER_SECOND = 500;
const STREAMING_MERCHANTS = 20;
/** The journal of the recorder alone: its transactions are full, and an attempt is in a later one than its routing. */
const JOURNAL = { partitions: 12, merchants: 100, batch: 320, attemptedAfter: 2000 } as const;
const DARK_SHARES = [0, 0.1, 0.5, 0.9];

/** A measurement as data. */
interface Measurement<Sizes extends object, Figures> {
  readonly title: string;
  /** The embedded engine has the fewest other processes. A part is measured without a service. */
  readonly of: 'every engine' | 'the embedded engine' | 'a part';
  readonly full: Sizes;
  readonly quick: NoInfer<Sizes>;
  measure(run: RunOptions, sizes: NoInfer<Sizes>): Promise<Figures> | Figures;
  text(figures: NoInfer<Figures>): string;
}

interface SpecialRun extends Pick<Measurement<object, unknown>, 'title' | 'of'> {
  /** Returns the figures and their text. `seconds`: the length of a row, in place of the usual one. */
  measure(
    run: RunOptions,
    options: { readonly quick: boolean; readonly seconds: number | null },
  ): Promise<{ readonly figures: unknown; readonly text: string }>;
}

function special<Sizes extends object, Figures>({
  full,
  quick: short,
  ...measurement
}: Measurement<Sizes, Figures>): SpecialRun {
  return {
    ...measurement,
    async measure(run, { quick, seconds }) {
      const sizes = { ...(quick ? short : full), ...(seconds === null ? {} : { seconds }) };
      const figures = await measurement.measure(run, sizes);
      return { figures, text: measurement.text(figures) };
    },
  };
}

const lines =
  <Row>(text: (row: Row) => string) =>
  (rows: readonly Row[]) =>
    rows.map(text).join('\n');

/** The measurements instead of throughput, by the name of their option. */
export const SPECIAL_RUNS = {
  /** How late retries are, on the production schedule. */
  lateness: special({
    title: 'lateness of retries',
    of: 'every engine',
    full: { seconds: 60 },
    quick: { seconds: 10 },
    measure: (run, sizes) =>
      measureLateness({ ...run, ...sizes, eventsPerSecond: RETRIED_EVENTS_PER_SECOND }),
    text: latenessText,
  }),
  /** How much a replay slows live deliveries. */
  replay: special({
    title: 'live deliveries during a replay',
    of: 'every engine',
    full: { secondsBefore: 30, events: 50_000 },
    quick: { secondsBefore: 5, events: 5000 },
    measure: (run, sizes) => measureReplay({ ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND }),
    text: replayText,
  }),
  /** The effect of unresponsive endpoints on the others. */
  isolation: special({
    title: 'healthy endpoints beside dark ones',
    of: 'every engine',
    full: { endpoints: 1000, eventsPerSecond: 1000, seconds: 30, darkShares: DARK_SHARES },
    quick: { endpoints: 100, eventsPerSecond: 200, seconds: 5, darkShares: DARK_SHARES },
    measure: async (run, sizes) => [
      await measureIsolation({ ...run, ...sizes, origins: ORIGINS }),
      await measureIsolation({ ...run, ...sizes, origins: 1 }),
    ],
    text: lines(isolationText),
  }),
  /** An endpoint with a limit of its own, and its effect on the others. */
  limit: special({
    title: 'live deliveries beside an endpoint with a limit',
    of: 'every engine',
    full: { perSecond: 10, events: 500, seconds: 50, turns: 3 },
    quick: { perSecond: 10, events: 100, seconds: 10, turns: 2 },
    measure: (run, sizes) => measureLimit({ ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND }),
    text: limitText,
  }),
  /** Healthy endpoints while this process cannot keep up. */
  overload: special({
    title: 'healthy endpoints under overload',
    of: 'every engine',
    full: { calmEvents: 30_000, burstEvents: 100_000 },
    quick: { calmEvents: 10_000, burstEvents: 20_000 },
    measure: (run, sizes) => measureOverload({ ...run, ...sizes }),
    text: overloadText,
  }),
  /** Receivers whose response is at fault after its status line, beside ordinary ones. */
  answers: special({
    title: 'receivers that answer oddly',
    of: 'every engine',
    full: { seconds: 30 },
    quick: { seconds: 6 },
    measure: (run, sizes) => measureAnswers({ ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND }),
    text: answersText,
  }),
  /** Where the latency goes. Kafka's hops lie in several processes and are not marked. */
  hops: special({
    title: 'latency hop by hop',
    of: 'the embedded engine',
    full: { seconds: 20 },
    quick: { seconds: 10 },
    measure: (run, sizes) => measureHops({ ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND }),
    text: hopsText,
  }),
  /** The cost of an event far below the limit. */
  rates: special({
    title: 'what an event costs at a steady rate',
    of: 'every engine',
    full: { rates: [1, 10, 50, EVENTS_PER_SECOND], seconds: 60 },
    quick: { rates: [10, EVENTS_PER_SECOND], seconds: 15 },
    measure: (run, sizes) => measureRates({ ...run, ...sizes }),
    text: ratesText,
  }),
  /** The cost of a service without traffic. */
  idle: special({
    title: 'a service without traffic',
    of: 'every engine',
    full: { seconds: 60 },
    quick: { seconds: 20 },
    measure: (run, sizes) => measureIdle({ ...run, ...sizes }),
    text: idleText,
  }),
  /** The effect of open streams on deliveries: all of one merchant, and of many. */
  streams: special({
    title: 'live deliveries beside open streams',
    of: 'every engine',
    full: { streams: 200, seconds: 20, turns: 3 },
    quick: { streams: 200, seconds: 5, turns: 2 },
    async measure(run, sizes) {
      const options = { ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND };
      return [
        await measureStreams({ ...options, merchants: 1 }),
        await measureStreams({ ...options, merchants: STREAMING_MERCHANTS }),
      ];
    },
    text: lines(streamsText),
  }),
  /** The effect of a reader of the event feed on deliveries, and how long it takes. */
  feed: special({
    title: 'live deliveries beside a reader of the event feed',
    of: 'every engine',
    full: { events: 10_000, seconds: 20, turns: 3 },
    quick: { events: 10_000, seconds: 10, turns: 2 },
    measure: (run, sizes) => measureFeed({ ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND }),
    text: feedText,
  }),
  /** The effect of open consoles on deliveries, and how the page does in a browser. */
  console: special({
    title: 'the console beside live deliveries',
    of: 'every engine',
    full: { consoles: 50, deliveries: 100_000, seconds: 20, turns: 3, pageSeconds: 600 },
    quick: { consoles: 50, deliveries: 20_000, seconds: 10, turns: 2, pageSeconds: 30 },
    measure: (run, sizes) => measureConsole({ ...run, ...sizes, eventsPerSecond: EVENTS_PER_SECOND }),
    text: consoleText,
  }),
  /** The duration of reads of a large store, and their effect on live deliveries. Every engine has the same store. */
  reads: special({
    title: 'reads of a large store',
    of: 'a part',
    full: { seconds: 120, endpoints: 100_000, events: 2_000_000 },
    quick: { seconds: 10, endpoints: 2000, events: 200_000 },
    async measure(run, { seconds, ...sizes }): Promise<ReadsResult | PortReadsResult> {
      if (run.store === 'postgres') return measurePortReads({ ...sizes, seconds: 2 * seconds });
      return measureReads({ ...run, seconds, sizes, eventsPerSecond: EVENTS_PER_SECOND });
    },
    text: (figures) => ('leaves' in figures ? portReadsText(figures) : readsText(figures)),
  }),
  /** The stores alone: how fast they take the journal. */
  recorder: special({
    title: 'the recorder alone, on both stores',
    of: 'a part',
    full: { turns: 3, events: 60_000, ...JOURNAL },
    quick: { turns: 1, events: 20_000, ...JOURNAL },
    measure: (_run, sizes) => measureRecorder(sizes),
    text: recorderText,
  }),
  /** How long others wait while a leaf of the log on PostgreSQL is dropped. */
  retention: special({
    title: 'dropping a leaf of the log on PostgreSQL',
    of: 'a part',
    full: { deliveries: 1_000_000, events: 60_000 },
    quick: { deliveries: 100_000, events: 20_000 },
    measure: (_run, sizes) => measureDropLeaf(sizes),
    text: dropLeafText,
  }),
  /** The time that a receiver's response takes to search for the endpoint's secret. */
  masking: special({
    title: 'the search for a secret in a response',
    of: 'a part',
    full: { tries: 5 },
    quick: { tries: 2 },
    measure: (_run, sizes) => measureMasking(sizes),
    text: maskingText,
  }),
};

export type SpecialName = keyof typeof SPECIAL_RUNS;
export const SPECIAL_NAMES = Object.keys(SPECIAL_RUNS) as SpecialName[];
