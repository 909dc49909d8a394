/**
 * Guarantee, on Kafka: nothing acknowledged is lost, nothing comes early, and duplicates come only from faults, whatever
 * dies when. One api, two routers and two senders run as processes on three brokers, while a nemesis with a printed seed
 * kills -9 brokers that lead and processes of each role, and forces rebalances. Judged by the receivers' own log.
 * KILL_LOOP_* makes it longer: `npm run kill-loop`.
 */
import { afterAll, expect, it } from 'vitest';
import { Chance } from '../../services/domain/samples/chance.ts';
import { type Exchange, judge, repeatsBound } from '../support/delivery-checker.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithOwnKafka } from '../support/kafka.ts';
import { type RecordedAttempt, Trial } from '../support/kafka-trial.ts';
import { Nemesis } from '../support/nemesis.ts';

const count = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const SEED = count('KILL_LOOP_SEED', Math.floor(Math.random() * 2 ** 31));
const EVENTS = count('KILL_LOOP_KAFKA_EVENTS', 300);
const RETRY_SCALE = count('KILL_LOOP_KAFKA_RETRY_SCALE', 10_000);
const KILLS_PER_ROLE = count('KILL_LOOP_KAFKA_KILLS_PER_ROLE', 1);
/** Faults of different kinds that strike together. */
const AT_ONCE = count('KILL_LOOP_KAFKA_AT_ONCE', 3);
const FAULTS = {
  broker: count('KILL_LOOP_KAFKA_LEADER_KILLS', 1),
  rebalance: count('KILL_LOOP_KAFKA_REBALANCES', 1),
  api: KILLS_PER_ROLE,
  router: KILLS_PER_ROLE,
  sender: KILLS_PER_ROLE,
};
const FAULTS_IN_ALL = Object.values(FAULTS).reduce((sum, each) => sum + each, 0);
const PUBLISH_PAUSE_MS = 50;
/** What was settled so shortly before a fault may be repeated: capabilities.repeatsMs, and as much for a busy machine. */
const REPEATS_MS = 2000;
/** The endpoints that always fail take a few requests at a time, and seven of each delivery. */
const ENDED_MS_MAX = 180_000 + EVENTS * 50;
const TIMEOUT_MS = 400_000 + FAULTS_IN_ALL * 60_000 + EVENTS * 50;

await describeWithOwnKafka('on a Kafka of three brokers', 3, (cluster) => {
  let trial: Trial | undefined;

  afterAll(() => trial?.abandon(), 30_000);

  it(`loses nothing over ${FAULTS_IN_ALL} faults and ${EVENTS} events (seed ${SEED})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const chance = new Chance('kill loop', `${SEED}`);
    trial = await Trial.start({
      cluster: cluster(),
      chance,
      routers: 2,
      senders: 2,
      answerMs: [5, 60],
      environment: { HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}` },
    });
    const { fleet, topicPrefix } = trial;
    const inFlight = () => trial?.inFlight ?? 0;
    const nemesis = new Nemesis({ chance, fleet, cluster: cluster(), topicPrefix, inFlight });
    await harass(trial, nemesis);
    await trial.untilEnded(ENDED_MS_MAX);
    await report(trial, nemesis);
    await trial.stop();
  });
});

/** Publishes everything while each fault strikes in its turn, never far ahead of the faults. */
async function harass(trial: Trial, nemesis: Nemesis): Promise<void> {
  const plan = nemesis.plan(FAULTS, AT_ONCE);
  console.log(`kill loop on Kafka: seed ${SEED}, ${plan.map((volley) => volley.join('+')).join(' ')}`);
  const share = EVENTS / (FAULTS_IN_ALL + 1);
  const ending = new AbortController();
  const publishing = (async () => {
    while (trial.published < EVENTS && !ending.signal.aborted) {
      await trial.publish(Math.min(10, EVENTS - trial.published));
      await new Promise((resolve) => setTimeout(resolve, PUBLISH_PAUSE_MS));
      while (trial.published > (nemesis.faults.length + AT_ONCE + 0.7) * share && !ending.signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, PUBLISH_PAUSE_MS));
      }
    }
  })();
  try {
    for (const volley of plan) {
      const before = nemesis.faults.length;
      await eventually(
        'enough published and requests in flight',
        () => trial.published >= (before + 0.5) * share && trial.inFlight > 0,
        120_000,
      );
      await nemesis.strikeAll(volley);
      for (const { kind, victim, inFlight, from, to } of nemesis.faults.slice(before)) {
        console.log(`${kind}: ${victim}, ${inFlight} in flight, over after ${to - from} ms`);
      }
    }
  } finally {
    if (nemesis.faults.length < FAULTS_IN_ALL) ending.abort();
    await publishing;
  }
}

async function report(trial: Trial, nemesis: Nemesis): Promise<void> {
  const { faults } = nemesis;
  const owed = trial.owed.map(({ id }) => id);
  // A killed api or router sends nothing itself; what it repeats is recognised.
  const windows = faults.filter(({ kind }) => kind !== 'api' && kind !== 'router');
  const verdict = judge(owed, trial.exchanges, windows, { retryScale: RETRY_SCALE, repeatsMs: REPEATS_MS });
  // A task that was parked when a fault struck may be made twice, and come again long after.
  const bound = repeatsBound(trial.exchanges, windows, REPEATS_MS);
  const dead = await eventually('every dead letter is there', async () => {
    const ids = await trial.deadLetters();
    return new Set(ids).size >= verdict.exhausted.size ? ids : null;
  });
  const recorded = await trial.recordedAttempts(verdict.exhausted);
  const seen = attemptsSeen(trial.exchanges);
  const wrong = [...recorded].flatMap(([id, attempts]) =>
    wrongRecord(id, attempts, seen.get(id) ?? new Set()),
  );
  const inFlight = faults.reduce((sum, fault) => sum + fault.inFlight, 0);
  console.log(
    `kill loop on Kafka: seed ${SEED}, ${faults.length} faults with ${inFlight} requests in flight, ` +
      `${trial.published} events, ${owed.length} deliveries, ${verdict.lost.length} lost, ${verdict.early.length} early, ` +
      `${verdict.delivered.size} delivered, ${dead.length} dead letters of ${new Set(dead).size} deliveries, ` +
      `${verdict.repeats} duplicates (bound ${bound}; ${verdict.unexplained.length} of what was parked when a fault struck), ` +
      `${verdict.requests} requests, ${verdict.unseen} attempts failed before they came, failed starts ` +
      `${trial.fleet.processes.map(({ name, failedStarts }) => `${name} ${failedStarts}`).join(', ')}`,
  );
  expect(verdict.lost).toEqual([]);
  expect(verdict.early).toEqual([]);
  expect(verdict.strange).toEqual([]);
  expect(wrong).toEqual([]);
  expect([...verdict.exhausted].filter((id) => !dead.includes(id))).toEqual([]);
  expect(dead.length).toBe(new Set(dead).size);
  expect(verdict.repeats).toBeLessThanOrEqual(bound);
}

/** By delivery. */
function attemptsSeen(exchanges: readonly Exchange[]): ReadonlyMap<string, ReadonlySet<number>> {
  const seen = new Map<string, Set<number>>();
  for (const { deliveryId, attempt } of exchanges) {
    const known = seen.get(deliveryId);
    if (known) known.add(attempt);
    else seen.set(deliveryId, new Set([attempt]));
  }
  return seen;
}

/** Seven attempts are recorded; one that never came here has no response, and the reason. */
function wrongRecord(id: string, attempts: readonly RecordedAttempt[], seen: ReadonlySet<number>): string[] {
  const numbers = attempts.map(({ number }) => number).join();
  if (numbers !== '1,2,3,4,5,6,7') return [`${id}: attempts ${numbers} are recorded`];
  return attempts
    .filter(({ number, response_status }) => !seen.has(number) && response_status !== null)
    .map(({ number }) => `${id}: attempt ${number} has a response that nobody gave`);
}
