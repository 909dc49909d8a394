/** Shared by the fault loops on Kafka: injects faults while events are published, then judges the receivers' log. */
import { expect } from 'vitest';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import type { Chance } from '../../../services/samples/chance.ts';
import { eventually } from '../eventually.ts';
import { type Exchange, judge, repeatsBound } from '../models/delivery-checker.ts';
import type { Trial } from '../trials/kafka-trial.ts';
import type { RecordedAttempt } from '../trials/recorded-delivery.ts';
import { type FaultKind, Nemesis, type NemesisOptions } from './nemesis.ts';

export interface LoopOptions {
  /** Printed with every result, so that the run can be repeated. */
  readonly seed: number;
  readonly events: number;
  readonly retryScale: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** The number of faults, of different kinds, injected together. */
  readonly atOnce: number;
}

const PUBLISH_PAUSE_MS = 50;

/** Faults of processes that send no requests themselves, and whose repeated records are recognised. */
const SENDS_NOTHING: ReadonlySet<FaultKind> = new Set<FaultKind>([
  ...(['api', 'recorder', 'router', 'postgres'] as const),
  ...(['pause-api', 'pause-recorder', 'pause-router'] as const),
]);

export const faultsInAll = ({ faults }: Pick<LoopOptions, 'faults'>): number =>
  Object.values(faults).reduce((sum, each) => sum + each, 0);

export function startNemesis(
  trial: Trial,
  cluster: LocalKafka,
  chance: Chance,
  more: Pick<NemesisOptions, 'pauseMs' | 'postgres'> = {},
): Nemesis {
  const { fleet, topicPrefix } = trial;
  return new Nemesis({ chance, fleet, cluster, topicPrefix, inFlight: () => trial.inFlight, ...more });
}

/** Injects the faults one volley after the other while it publishes all events at the same pace. */
export async function injectFaults(trial: Trial, nemesis: Nemesis, options: LoopOptions): Promise<void> {
  const { seed, events, faults, atOnce } = options;
  const all = faultsInAll(options);
  const plan = nemesis.plan(faults, atOnce);
  console.log(`kill loop on Kafka: seed ${seed}, ${plan.map((volley) => volley.join('+')).join(' ')}`);
  const share = events / (all + 1);
  const ending = new AbortController();
  const publishing = (async () => {
    while (trial.published < events && !ending.signal.aborted) {
      await trial.publish(Math.min(10, events - trial.published));
      await new Promise((resolve) => setTimeout(resolve, PUBLISH_PAUSE_MS));
      while (trial.published > (nemesis.faults.length + atOnce + 0.7) * share && !ending.signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, PUBLISH_PAUSE_MS));
      }
    }
  })();
  try {
    for (const volley of plan) {
      const before = nemesis.faults.length;
      const due = Math.ceil((before + 0.5) * share);
      await eventually(`${due} events are published`, () => trial.published >= due, 120_000);
      await eventually('a request is in flight', () => trial.inFlight > 0, 120_000);
      await nemesis.strikeAll(volley);
      for (const { kind, victim, inFlight, from, to } of nemesis.faults.slice(before)) {
        console.log(`${kind}: ${victim}, ${inFlight} in flight, over after ${to - from} ms`);
      }
    }
  } finally {
    if (nemesis.faults.length < all) ending.abort();
    await publishing;
  }
}

/** Prints the verdict, and expects no lost, early or unexpected delivery, and no more repeats than the faults allow. */
export async function report(trial: Trial, nemesis: Nemesis, options: LoopOptions): Promise<void> {
  const { seed, retryScale } = options;
  const { faults } = nemesis;
  const owed = trial.owed.map(({ id }) => id);
  const windows = faults.filter(({ kind }) => !SENDS_NOTHING.has(kind));
  const verdict = judge(owed, trial.exchanges, windows, {
    retryScale,
    dead: new Set(await trial.deadLetters()),
  });
  // A task that was parked when a fault struck may be duplicated, and its repeat may come long after.
  const bound = repeatsBound(trial.exchanges, windows);
  const dead = await eventually('every exhausted delivery has a dead letter', async () => {
    const ids = await trial.deadLetters();
    const known = new Set(ids);
    return [...verdict.exhausted].every((id) => known.has(id)) ? ids : null;
  });
  const recorded = await trial.recordedAttempts(verdict.exhausted);
  const seen = attemptsSeen(trial.exchanges);
  const wrong = [...recorded].flatMap(([id, attempts]) =>
    wrongRecord(id, attempts, seen.get(id) ?? new Set()),
  );
  const inFlight = faults.reduce((sum, fault) => sum + fault.inFlight, 0);
  console.log(
    `kill loop on Kafka: seed ${seed}, ${faults.length} faults with ${inFlight} requests in flight, ` +
      `${trial.published} events, ${owed.length} deliveries, ${verdict.lost.length} lost, ${verdict.early.length} early, ` +
      `${verdict.delivered.size} delivered, ${dead.length} dead letters of ${new Set(dead).size} deliveries, ` +
      `${verdict.repeats} duplicates (bound ${bound}; ${verdict.unexplained.length} of tasks parked when a fault struck; ` +
      `the latest ${verdict.latestRepeatMs} ms after its attempt), ` +
      `${verdict.requests} requests, ${verdict.unseen} attempts failed before they reached a receiver, failed starts ` +
      `${trial.fleet.processes.map(({ name, failedStarts }) => `${name} ${failedStarts}`).join(', ')}`,
  );
  expect(verdict.lost).toEqual([]);
  expect(verdict.early).toEqual([]);
  expect(verdict.strange).toEqual([]);
  expect(wrong).toEqual([]);
  expect(dead.length).toBe(new Set(dead).size);
  expect(verdict.repeats).toBeLessThanOrEqual(bound);
}

/** Returns the attempt numbers that receivers saw, by delivery. */
function attemptsSeen(exchanges: readonly Exchange[]): ReadonlyMap<string, ReadonlySet<number>> {
  const seen = new Map<string, Set<number>>();
  for (const { deliveryId, attempt } of exchanges) {
    const known = seen.get(deliveryId);
    if (known) known.add(attempt);
    else seen.set(deliveryId, new Set([attempt]));
  }
  return seen;
}

/** Checks that seven attempts are recorded, and that those which reached no receiver have no response. */
function wrongRecord(id: string, attempts: readonly RecordedAttempt[], seen: ReadonlySet<number>): string[] {
  const numbers = attempts.map(({ number }) => number).join();
  if (numbers !== '1,2,3,4,5,6,7') return [`${id}: attempts ${numbers} are recorded`];
  return attempts
    .filter(({ number, response_status }) => !seen.has(number) && response_status !== null)
    .map(({ number }) => `${id}: attempt ${number} has a response, but reached no receiver`);
}
