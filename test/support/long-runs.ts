/**
 * The sizes of suites that have a short form for a test run and a long one, which LONG_RUN=1 chooses. A variable of the
 * same name sets a single one.
 */

/** The short form's size and the long one's. */
const SIZES = {
  KILL_LOOP_KILLS: [6, 40],
  KILL_LOOP_EVENTS: [1200, 8000],
  KILL_LOOP_KAFKA_EVENTS: [300, 20_000],
  KILL_LOOP_KAFKA_RETRY_SCALE: [10_000, 1000],
  KILL_LOOP_KAFKA_LEADER_KILLS: [1, 5],
  KILL_LOOP_KAFKA_KILLS_PER_ROLE: [1, 10],
  KILL_LOOP_KAFKA_REBALANCES: [1, 5],
  KILL_LOOP_KAFKA_AT_ONCE: [3, 2],
  KILL_LOOP_KAFKA_OUTAGE_SECONDS: [15, 90],
  KILL_LOOP_POSTGRES_EVENTS: [300, 20_000],
  KILL_LOOP_POSTGRES_FAULTS_OF_EACH: [1, 6],
  KILL_LOOP_POSTGRES_AT_ONCE: [2, 2],
  KILL_LOOP_POSTGRES_OUTAGE_SECONDS: [10, 90],
  NOTICE_LOOP_KILLS: [5, 40],
  NOTICE_LOOP_KAFKA_KILLS: [2, 20],
  FEED_LOOP_EVENTS: [400, 20_000],
  FEED_LOOP_KILLS: [3, 40],
  PAUSE_LOOP_EVENTS: [300, 20_000],
  PAUSE_LOOP_RETRY_SCALE: [10_000, 1000],
  PAUSE_LOOP_PAUSES: [1, 3],
  PAUSE_LOOP_KILLS: [0, 2],
  PAUSE_LOOP_SECONDS: [15, 40],
  PAUSE_LOOP_AT_ONCE: [4, 2],
  HUNG_BROKER_SECONDS: [25, 75],
  HUNG_BROKER_NODES: [1, 3],
  MANAGEMENT_ROTATIONS: [300, 10_000],
  MANAGEMENT_CREATES: [50, 1000],
  ABANDONED_STREAMS: [1000, 10_000],
  /** Fewer in a test run: each request takes several round trips to the store. */
  ABANDONED_STREAMS_ON_POSTGRES: [300, 10_000],
  CLOSING_SECONDS: [1, 30],
  FAST_FAILURES_SECONDS: [12, 60],
  LOG_BLOCKED_SECONDS: [8, 600],
  ENDS_OF_PROCESSES: [5, 100],
  RECORD_STORE_RECORDS: [4000, 20_000],
  MODEL_RUNS: [4, 100],
  SEQUENCE_HISTORIES: [1, 20],
  SEQUENCE_ROUNDS: [1, 4],
} as const satisfies Readonly<Record<string, readonly [short: number, long: number]>>;

/** Whether this is a long run. It is judged by the promised bounds, without room for a busy machine. */
export const IS_LONG_RUN = process.env.LONG_RUN === '1';

export function sizeOf(name: keyof typeof SIZES): number {
  const [short, long] = SIZES[name];
  return Number(process.env[name] ?? (IS_LONG_RUN ? long : short));
}

/** Returns the seed that the variable names, for repeating a run; a random one without. */
export function seedOf(
  name: 'KILL_LOOP_SEED' | 'NOTICE_LOOP_SEED' | 'PAUSE_LOOP_SEED' | 'MODEL_SEED',
): number {
  return Number(process.env[name] ?? Math.floor(Math.random() * 2 ** 31));
}
