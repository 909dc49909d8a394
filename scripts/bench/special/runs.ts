import type { RunOptions } from '../engine.ts';
import { maskingText, measureMasking } from '../masking/masking.ts';
import { dropLeafText, measureDropLeaf } from '../postgres/drop-leaf.ts';
import { measurePortReads, portReadsText } from '../postgres/measure-reads.ts';
import { ORIGINS } from '../receiver.ts';
import { measureRecorder, type RecorderSizes, recorderText } from '../recorder/recorder.ts';
import { answersText, measureAnswers } from './answers.ts';
import { hopsText, measureHops } from './hops.ts';
import { idleText, measureIdle } from './idle.ts';
import { isolationText, measureIsolation } from './isolation.ts';
import { latenessText, measureLateness } from './lateness.ts';
import { measureOverload, overloadText } from './overload.ts';
import { measureReads, readsText } from './reads.ts';
import { measureReplay, replayText } from './replay.ts';
import { measureStreams, streamsText } from './streams.ts';

/** Live events per second while something else is measured. */
export const EVENTS_PER_SECOND = 200;
const RETRIED_EVENTS_PER_SECOND = 500;
const STREAMING_MERCHANTS = 20;

export interface SpecialSizes {
  readonly latenessSeconds: number;
  readonly secondsBefore: number;
  readonly replayedEvents: number;
  readonly isolation: {
    readonly endpoints: number;
    readonly eventsPerSecond: number;
    readonly seconds: number;
    readonly darkShares: readonly number[];
  };
  readonly overload: { readonly calmEvents: number; readonly burstEvents: number };
  readonly answersSeconds: number;
  readonly hopsSeconds: number;
  readonly idleSeconds: number;
  readonly streams: { readonly streams: number; readonly seconds: number; readonly turns: number };
  readonly readsSeconds: number;
  readonly reads: { readonly endpoints: number; readonly events: number };
  readonly recorder: RecorderSizes;
  readonly droppedDeliveries: number;
  readonly masking: { readonly tries: number };
}

interface SpecialRun {
  readonly title: string;
  /** Whether every engine is measured. Otherwise only the embedded one, which has the fewest other processes. */
  readonly ofEveryEngine: boolean;
  /** Returns the figures and their text. */
  measure(
    run: RunOptions,
    sizes: SpecialSizes,
  ): Promise<{ readonly figures: unknown; readonly text: string }>;
}

/** The measurements instead of throughput, by the name of their option. */
export const SPECIAL_RUNS = {
  /** How late retries are, on the production schedule. */
  lateness: {
    title: 'lateness of retries',
    ofEveryEngine: true,
    async measure(run, { latenessSeconds }) {
      const pace = { eventsPerSecond: RETRIED_EVENTS_PER_SECOND, seconds: latenessSeconds };
      const figures = await measureLateness({ ...run, ...pace });
      return { figures, text: latenessText(figures) };
    },
  },
  /** How much a replay slows live deliveries. */
  replay: {
    title: 'live deliveries during a replay',
    ofEveryEngine: true,
    async measure(run, { secondsBefore, replayedEvents }) {
      const pace = { eventsPerSecond: EVENTS_PER_SECOND, secondsBefore };
      const figures = await measureReplay({ ...run, ...pace, events: replayedEvents });
      return { figures, text: replayText(figures) };
    },
  },
  /** The effect of unresponsive endpoints on the others. */
  isolation: {
    title: 'healthy endpoints beside dark ones',
    ofEveryEngine: true,
    async measure(run, { isolation }) {
      const figures = [
        await measureIsolation({ ...run, ...isolation, origins: ORIGINS }),
        await measureIsolation({ ...run, ...isolation, origins: 1 }),
      ];
      return { figures, text: figures.map(isolationText).join('\n') };
    },
  },
  /** Healthy endpoints while this process cannot keep up. */
  overload: {
    title: 'healthy endpoints under overload',
    ofEveryEngine: true,
    async measure(run, { overload }) {
      const figures = await measureOverload({ ...run, ...overload });
      return { figures, text: overloadText(figures) };
    },
  },
  /** Receivers whose response is at fault after its status line, beside ordinary ones. */
  answers: {
    title: 'receivers that answer oddly',
    ofEveryEngine: true,
    async measure(run, { answersSeconds }) {
      const pace = { eventsPerSecond: EVENTS_PER_SECOND, seconds: answersSeconds };
      const figures = await measureAnswers({ ...run, ...pace });
      return { figures, text: answersText(figures) };
    },
  },
  /** Where the latency goes. Kafka's hops lie in several processes and are not marked. */
  hops: {
    title: 'latency hop by hop',
    ofEveryEngine: false,
    async measure(run, { hopsSeconds }) {
      const figures = await measureHops({ ...run, eventsPerSecond: EVENTS_PER_SECOND, seconds: hopsSeconds });
      return { figures, text: hopsText(figures) };
    },
  },
  /** The cost of a service without traffic. */
  idle: {
    title: 'a service without traffic',
    ofEveryEngine: true,
    async measure(run, { idleSeconds }) {
      const figures = await measureIdle({ ...run, seconds: idleSeconds });
      return { figures, text: idleText(figures) };
    },
  },
  /** The effect of open streams on deliveries: all of one merchant, and of many. */
  streams: {
    title: 'live deliveries beside open streams',
    ofEveryEngine: true,
    async measure(run, { streams }) {
      const options = { ...run, ...streams, eventsPerSecond: EVENTS_PER_SECOND };
      const figures = [
        await measureStreams({ ...options, merchants: 1 }),
        await measureStreams({ ...options, merchants: STREAMING_MERCHANTS }),
      ];
      return { figures, text: figures.map(streamsText).join('\n') };
    },
  },
  /** The duration of reads of a large store, and their effect on live deliveries. Every engine has the same store. */
  reads: {
    title: 'reads of a large store',
    ofEveryEngine: false,
    async measure(run, { readsSeconds, reads }) {
      if (run.store === 'postgres') {
        const figures = await measurePortReads({ ...reads, seconds: 4 * readsSeconds });
        return { figures, text: portReadsText(figures) };
      }
      const pace = { eventsPerSecond: EVENTS_PER_SECOND, seconds: readsSeconds };
      const figures = await measureReads({ ...run, ...pace, sizes: reads });
      return { figures, text: readsText(figures) };
    },
  },
  /** The stores alone: how fast they take the journal. */
  recorder: {
    title: 'the recorder alone, on both stores',
    ofEveryEngine: false,
    async measure(_run, { recorder }) {
      const figures = await measureRecorder(recorder);
      return { figures, text: recorderText(figures) };
    },
  },
  /** How long others wait while a leaf of the log on PostgreSQL is dropped. */
  retention: {
    title: 'dropping a leaf of the log on PostgreSQL',
    ofEveryEngine: false,
    async measure(_run, { droppedDeliveries, recorder }) {
      const figures = await measureDropLeaf({ deliveries: droppedDeliveries, events: recorder.events });
      return { figures, text: dropLeafText(figures) };
    },
  },
  /** The time that a receiver's response takes to search for the endpoint's secret. */
  masking: {
    title: 'the search for a secret in a response',
    ofEveryEngine: false,
    async measure(_run, { masking }) {
      const figures = measureMasking(masking);
      return { figures, text: maskingText(figures) };
    },
  },
} as const satisfies Readonly<Record<string, SpecialRun>>;

export type SpecialName = keyof typeof SPECIAL_RUNS;
export const SPECIAL_NAMES = Object.keys(SPECIAL_RUNS) as SpecialName[];
