/**
 * How late retries are, on the production schedule: every delivery fails twice, so attempt 2 waits 3 s and attempt 3
 * waits 66 s. Lateness is measured from the receiver's own log; the service itself counts the early ones.
 */
import { cpus } from 'node:os';
import { retryDelaySeconds, type Tier, tierOfAttempt } from '../../../services/domain/retry.ts';
import { since, totalOf } from '../counts.ts';
import { type RunOptions, withService } from '../engine.ts';
import { sleep } from '../load.ts';
import { cpuMsOfTree, percentile, wallClock } from '../measure.ts';
import type { Arrival } from '../receiver.ts';
import { nameOf } from '../report/names.ts';

export interface LatenessResult {
  readonly engine: string;
  readonly brokers: number;
  readonly eventsPerSecond: number;
  readonly events: number;
  readonly tiers: readonly TierLateness[];
  /** Requests beyond three per delivery. */
  readonly repeats: number;
  /** Tasks parked because their endpoint's window and queue were full: these are late on purpose. */
  readonly parked: number;
  /** Retries handed over before they were due, by the service's own count. */
  readonly early: number;
  /** Shares (0 … 1) of the machine's CPU: the benchmark with its child processes, and all other processes. */
  readonly cpu: { readonly ours: number; readonly others: number };
}

/** Milliseconds from the due time of an attempt until its last byte was read; below 0 = early. */
export interface TierLateness {
  readonly tier: Tier;
  readonly retries: number;
  readonly leastMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Failures narrow an endpoint's window, so the load is spread over many to keep each queue from filling up. */
const ENDPOINTS = 100;
const FAILED_ATTEMPTS = 2;
const PUBLISHED_EACH_MS = 20;
const POLL_MS = 250;
/** The time limit after the last publish: both delays, and as much again for a slow machine. */
const RETRIED_MS_MAX = 180_000;

/** Publishes at a steady rate, waits for every third attempt, and reads the receiver's log. */
export function measureLateness(
  options: RunOptions & { readonly eventsPerSecond: number; readonly seconds: number },
): Promise<LatenessResult> {
  return withService(options, ENDPOINTS, async (service) => {
    const { receiver, eventsPerSecond, seconds, engine } = options;
    const events = eventsPerSecond * seconds;
    await receiver.reset({ record: true, failedAttempts: FAILED_ATTEMPTS });
    const parkedBefore = await service.parkedTasks();
    const shares = watchCpu();
    await publishSteadily((count) => service.publish(count), eventsPerSecond, seconds);
    const expected = events * (FAILED_ATTEMPTS + 1);
    await retried(async () => (await receiver.count()).total, expected).catch(async (error: Error) => {
      const parked = totalOf(since(parkedBefore, await service.parkedTasks()));
      throw new Error(`${error.message}; tasks were parked ${parked} times`);
    });
    const cpu = shares();
    const arrivals = await receiver.recorded();
    return {
      engine: engine.name,
      brokers: engine.brokerPids().length,
      eventsPerSecond,
      events,
      tiers: [2, 3].map((attempt) => latenessOf(attempt, arrivals)),
      repeats: arrivals.length - expected,
      parked: totalOf(since(parkedBefore, await service.parkedTasks())),
      early: await service.earlyRetries(),
      cpu,
    };
  });
}

/** Compares an attempt's arrivals with those of the previous attempt, which ended on arrival with the response. */
function latenessOf(attempt: number, arrivals: readonly Arrival[]): TierLateness {
  const firstAt = (wanted: number) => {
    const times = new Map<string, number>();
    for (const { deliveryId, attempt: found, at } of arrivals) {
      if (found === wanted && !times.has(deliveryId)) times.set(deliveryId, at);
    }
    return times;
  };
  const delayMs = retryDelaySeconds(attempt - 1) * 1000;
  const before = firstAt(attempt - 1);
  const lateness = [...firstAt(attempt)].map(
    ([deliveryId, at]) => at - (before.get(deliveryId) ?? Number.NaN) - delayMs,
  );
  const sorted = Float64Array.from(lateness).sort();
  return {
    tier: tierOfAttempt(attempt),
    retries: sorted.length,
    leastMs: percentile(sorted, 0),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    maxMs: percentile(sorted, 1),
  };
}

/** Publishes at a steady rate, independent of the responses. */
async function publishSteadily(
  publish: (count: number) => Promise<void>,
  perSecond: number,
  seconds: number,
): Promise<void> {
  const each = (perSecond * PUBLISHED_EACH_MS) / 1000;
  const running: Promise<void>[] = [];
  const start = wallClock();
  for (let step = 0; step < (seconds * 1000) / PUBLISHED_EACH_MS; step += 1) {
    const wait = start + step * PUBLISHED_EACH_MS - wallClock();
    if (wait > 0) await sleep(wait);
    running.push(publish(each));
  }
  await Promise.all(running);
}

async function retried(count: () => Promise<number>, expected: number): Promise<void> {
  const giveUpAt = wallClock() + RETRIED_MS_MAX;
  for (;;) {
    const total = await count();
    if (total >= expected) return;
    if (wallClock() > giveUpAt) {
      throw new Error(`only ${total} of ${expected} attempts arrived within ${RETRIED_MS_MAX / 1000} s`);
    }
    await sleep(POLL_MS);
  }
}

/** Returns a function that reports the use of the CPU since this call, because a busy machine also makes retries late. */
function watchCpu(): () => LatenessResult['cpu'] {
  const read = () => {
    const times = cpus().map((core) => core.times);
    const idle = times.reduce((sum, core) => sum + core.idle, 0);
    const all = times.reduce(
      (sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq,
      0,
    );
    return { all, busy: all - idle, ours: cpuMsOfTree(process.pid) };
  };
  const before = read();
  return () => {
    const now = read();
    const all = now.all - before.all;
    const ours = now.ours - before.ours;
    return { ours: ours / all, others: Math.max(0, now.busy - before.busy - ours) / all };
  };
}

export function latenessText(result: LatenessResult): string {
  const { engine, brokers, events, eventsPerSecond, repeats, parked, early, cpu } = result;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [
    `${nameOf(engine, brokers)}: ${events} events at ${eventsPerSecond}/s, each delivered by its third attempt`,
    ...result.tiers.map(
      ({ tier, retries, leastMs, p50Ms, p99Ms, maxMs }) =>
        `  ${tier} s: ${retries} retries, late by p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, max ${ms(maxMs)} (least ${ms(leastMs)})`,
    ),
    `  ${early} early by the service's own clock, ${parked} parked, ${repeats} repeated`,
    `  CPU of the machine: ${percent(cpu.ours)} this run, ${percent(cpu.others)} other processes`,
  ].join('\n');
}
