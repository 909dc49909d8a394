/**
 * The effect of poison records in one partition on the others, which get 200 events per second in turns without and with
 * poison, in one run. In the turns without, the same records are written to a topic that hookrail does not read, so that
 * the cost of writing them is the same. The latency of an event is from just before it is written until its webhook has
 * arrived.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { percentile } from '../bench/measure.ts';
import { type Case, type CaseContext, newIds } from './case.ts';
import { prepareClients, writeWith } from './clients.ts';
import { kycEvent, SCHEMAS, wireFormat } from './event-variants.ts';
import type { JobRecord } from './job.ts';
import { poisonCases } from './poison-cases.ts';
import { contextOf, type RunOptions } from './run.ts';
import { sizeCases } from './size-cases.ts';
import { createEventsTopic, type System, startSystem } from './system.ts';

const PARTITIONS = 6;
/** The partition with poison; the others get only good events. */
const POISONED = 0;
const EVENTS_PER_SECOND = 200;
const SIZES = {
  full: { turns: 3, turnMs: 15_000, warmUpMs: 10_000 },
  quick: { turns: 1, turnMs: 8_000, warmUpMs: 5_000 },
} as const;
/** The pause between two turns, to finish the work of the earlier one. */
const REST_MS = 2_000;
/** Rates of ordinary junk, and of records that are large or need much memory to read. */
const JUNK_PER_SECOND = 20;
const LARGE_PER_SECOND = 1;
const ARRIVED_MS_MAX = 30_000;
const POLL_MS = 100;
const CLIENT_MS_MAX = 300_000;

export interface PoisonResult {
  readonly poisonRecords: number;
  readonly quarantined: number;
  readonly without: Figures;
  readonly with: Figures;
  /** p99 with poison, divided by p99 without. */
  readonly ratio: number;
  /** Whether a good event after the poison in the same partition arrived. */
  readonly isBehindDelivered: boolean;
}

interface Figures {
  readonly events: number;
  /** Events that never arrived. */
  readonly missing: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export async function measurePoison(options: RunOptions): Promise<PoisonResult> {
  const { brokers, registryUrl, environment, say, isQuick } = options;
  const { turns, turnMs, warmUpMs } = isQuick ? SIZES.quick : SIZES.full;
  const { librdkafka } = await prepareClients({ environment, say });
  const topicPrefix = `b${randomBytes(6).toString('hex')}.`;
  const system = await startSystem({ brokers, registryUrl, topicPrefix, partitions: PARTITIONS });
  const kafka = new Kafka({ clientId: 'good', brokers: [...brokers], logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  try {
    const context = await contextOf(system, registryUrl);
    await producer.connect();
    const good = new GoodEvents(producer, system, context);
    const start = Date.now() + warmUpMs + REST_MS;
    // Turns without and with poison alternate.
    const startOf = (turn: number) => start + turn * (turnMs + REST_MS);
    const write = (topic: string, turnOf: (pair: number) => number) => {
      const starts = Array.from({ length: turns }, (_, pair) => startOf(turnOf(pair)));
      const records = poisonRecords(context, starts, turnMs);
      const job = { topic, schemas: SCHEMAS, registryUrl, brokers: brokers.join(','), records };
      return writeWith(librdkafka, job, environment, AbortSignal.timeout(CLIENT_MS_MAX));
    };
    const elsewhere = `${topicPrefix}elsewhere`;
    await createEventsTopic(elsewhere, { brokers, partitions: PARTITIONS });
    const poison = write(system.eventsTopic, (pair) => 2 * pair + 1);
    const unread = write(elsewhere, (pair) => 2 * pair);
    await good.flow(warmUpMs);
    const samples: Record<'without' | 'with', number[]> = { without: [], with: [] };
    for (let turn = 0; turn < 2 * turns; turn += 1) {
      await sleep(Math.max(0, startOf(turn) - Date.now()));
      const kind = turn % 2 === 0 ? 'without' : 'with';
      const latencies = await good.flow(turnMs);
      say(`turn ${turn + 1} of ${2 * turns}, ${kind} poison: p99 ${figuresOf(latencies).p99Ms} ms`);
      samples[kind].push(...latencies);
    }
    const [written] = await Promise.all([poison, unread]);
    const isBehindDelivered = await good.isDelivered(POISONED);
    const [without, beside] = [figuresOf(samples.without), figuresOf(samples.with)];
    const quarantined = (await system.quarantine()).length;
    const ratio = beside.p99Ms / without.p99Ms;
    return { poisonRecords: written.length, quarantined, without, with: beside, ratio, isBehindDelivered };
  } finally {
    await producer.disconnect();
    await system.stop();
  }
}

/** Publishes good events at a steady rate into the partitions without poison. */
class GoodEvents {
  readonly #producer: Producer;
  readonly #system: System;
  readonly #context: CaseContext;

  constructor(producer: Producer, system: System, context: CaseContext) {
    this.#producer = producer;
    this.#system = system;
    this.#context = context;
  }

  /** Resolves with the latency of each event; infinite where none arrived. */
  async flow(durationMs: number): Promise<number[]> {
    const sentAt = new Map<string, number>();
    const sends: Promise<unknown>[] = [];
    const start = Date.now();
    const count = (durationMs * EVENTS_PER_SECOND) / 1000;
    for (let i = 0; i < count; i += 1) {
      const wait = start + (i * 1000) / EVENTS_PER_SECOND - Date.now();
      if (wait > 0) await sleep(wait);
      const { eventId, sent } = this.#send(1 + (i % (PARTITIONS - 1)));
      sentAt.set(eventId, Date.now());
      sends.push(sent);
    }
    await Promise.all(sends);
    const isComplete = () => [...sentAt.keys()].every((id) => this.#system.arrivals.has(id));
    await until(isComplete);
    const arrivedAt = (id: string) => this.#system.arrivals.get(id)?.at ?? Number.POSITIVE_INFINITY;
    return [...sentAt].map(([id, at]) => arrivedAt(id) - at);
  }

  /** Sends one event to a partition and returns whether it arrives. */
  async isDelivered(partition: number): Promise<boolean> {
    const { eventId, sent } = this.#send(partition);
    await sent;
    return until(() => this.#system.arrivals.has(eventId));
  }

  #send(partition: number) {
    const ids = newIds(this.#context);
    const value = wireFormat('ours', this.#context.schemaIdOf('ours'), kycEvent(ids));
    const messages = [{ key: ids.entityId, value, partition }];
    return { eventId: ids.eventId, sent: this.#producer.send({ topic: this.#system.eventsTopic, messages }) };
  }
}

async function until(condition: () => boolean): Promise<boolean> {
  for (const giveUpAt = Date.now() + ARRIVED_MS_MAX; Date.now() < giveUpAt; await sleep(POLL_MS)) {
    if (condition()) return true;
  }
  return false;
}

/** Returns every kind of poison in turn, at a steady rate, from each of the start times on. */
function poisonRecords(context: CaseContext, starts: readonly number[], durationMs: number): JobRecord[] {
  const isPoison = ({ expected }: Case) =>
    expected.some((end) => end.startsWith('quarantined')) || expected.includes('not committed');
  const timed = (cases: readonly Case[], perSecond: number) => {
    const count = (durationMs * perSecond) / 1000;
    return cases.map((each, i): JobRecord => {
      const turns = Array.from({ length: count }, (_, n) => n).filter((n) => n % cases.length === i);
      const at = starts.flatMap((start) => turns.map((n) => start + (n * 1000) / perSecond));
      return { id: each.name, partition: POISONED, ...each.record, at };
    });
  };
  return [
    ...timed(poisonCases(context).filter(isPoison), JUNK_PER_SECOND),
    ...timed(sizeCases(context).filter(isPoison), LARGE_PER_SECOND),
  ];
}

function figuresOf(latencies: readonly number[]): Figures {
  const sorted = Float64Array.from(latencies).sort();
  return {
    events: latencies.length,
    missing: latencies.filter((each) => !Number.isFinite(each)).length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    maxMs: percentile(sorted, 1),
  };
}

export function poisonText(result: PoisonResult): string {
  const line = ({ events, missing, p50Ms, p99Ms, maxMs }: Figures) =>
    `${events} events, ${missing} missing, p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms`;
  return [
    `${EVENTS_PER_SECOND} events/s in ${PARTITIONS - 1} partitions, from write to arrival:`,
    `  without poison: ${line(result.without)}`,
    `  with ${result.poisonRecords} records of poison in another partition: ${line(result.with)}`,
    `  p99 ratio ${result.ratio.toFixed(2)}; ${result.quarantined} quarantined; ` +
      `the event after the poison was ${result.isBehindDelivered ? 'delivered' : 'not delivered'}`,
  ].join('\n');
}
