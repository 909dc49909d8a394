import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import { sleep } from '../load.ts';
import { percentile, wallClock } from '../measure.ts';
import { ExplainedDatabase, type ExplainedStatement } from './explained-database.ts';
import { fillLeaves } from './fill-leaves.ts';
import { indexesOf, leavesOf, planFaults } from './plan-faults.ts';
import { type PortRead, portReads } from './port-reads.ts';
import { withPostgres } from './postgres-server.ts';

const READS_PER_SECOND = 50;
const DAY_MS = 86_400_000;
/** The leaves of 30 days, and those made ahead. */
const LEAVES = 34;
const CONNECTIONS_MAX = 10;

export interface PortReadsSizes {
  readonly endpoints: number;
  /** Each event goes to two endpoints; every fourth delivery was retried once. */
  readonly events: number;
  readonly seconds: number;
}

interface ReadResult {
  readonly read: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly plans: readonly string[];
}

export interface PortReadsResult {
  readonly attempts: number;
  readonly leaves: number;
  readonly fillSeconds: number;
  readonly reads: readonly ReadResult[];
  /** Statements that read more of the log than they should. */
  readonly faults: readonly string[];
}

/** Fills the leaves of a log, explains each read of the store port, and makes all of them in turn at a steady rate. */
export function measurePortReads({ endpoints, events, seconds }: PortReadsSizes): Promise<PortReadsResult> {
  return withPostgres(async (postgres) => {
    const clock = systemClock();
    const url = await postgres.createDatabase('reads');
    const address = parsePostgresUrl(url, undefined);
    const options = { address, clock, connectionsMax: CONNECTIONS_MAX, applicationName: 'bench' };
    const explained = new ExplainedDatabase(options);
    const plain = new PostgresDatabase(options);
    const startedAt = wallClock();
    const eventsPerLeaf = Math.ceil(events / LEAVES);
    const sizes = { leaves: LEAVES, leafMs: DAY_MS, until: wallClock(), eventsPerLeaf, endpoints };
    const filled = await fillLeaves(plain, url, sizes);
    const fillSeconds = (wallClock() - startedAt) / 1000;
    const plans = new Map<string, readonly ExplainedStatement[]>();
    for (const read of portReads(explained, filled, { leafMs: DAY_MS, clock })) {
      await read.run(1);
      plans.set(read.name, explained.take());
    }
    const floor = { name: 'nothing (SELECT 1)', run: () => plain.read(({ rows }) => rows('SELECT 1')) };
    const took = await makeAll([floor, ...portReads(plain, filled, { leafMs: DAY_MS, clock })], seconds);
    await Promise.all([explained.close(), plain.close()]);
    const reads = [...took].map(([read, times]) => toResult(read, times, plans.get(read) ?? []));
    const faults = [...plans].flatMap(([read, statements]) =>
      statements.flatMap((each) => planFaults(each, LEAVES)).map((fault) => `${read}: ${fault}`),
    );
    return { attempts: filled.attempts, leaves: LEAVES, fillSeconds, reads, faults };
  });
}

async function makeAll(
  reads: readonly PortRead[],
  seconds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const took = new Map<string, number[]>(reads.map(({ name }) => [name, []]));
  const running = new Set<Promise<void>>();
  const startedAt = wallClock();
  for (let turn = 0; turn < seconds * READS_PER_SECOND; turn += 1) {
    const wait = startedAt + (turn * 1000) / READS_PER_SECOND - wallClock();
    if (wait > 0) await sleep(wait);
    const read = reads[turn % reads.length];
    if (!read) break;
    const begunAt = wallClock();
    const one = read.run(Math.floor(turn / reads.length)).then(() => {
      took.get(read.name)?.push(wallClock() - begunAt);
      running.delete(one);
    });
    running.add(one);
  }
  await Promise.all(running);
  return took;
}

function toResult(
  read: string,
  times: readonly number[],
  statements: readonly ExplainedStatement[],
): ReadResult {
  const sorted = Float64Array.from(times).sort();
  const plans = statements.map((each) => {
    const ms = `planned in ${each.planningMs.toFixed(1)} ms, carried out in ${each.executionMs.toFixed(1)} ms`;
    return `${indexesOf(each).join(', ')}; ${leavesOf(each)} leaves; ${ms}: ${each.text.replaceAll(/\s+/g, ' ')}`;
  });
  return {
    read,
    count: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    plans,
  };
}

export function portReadsText(result: PortReadsResult): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [
    `PostgreSQL: ${result.attempts} attempts in ${result.leaves} leaves (filled in ${result.fillSeconds.toFixed(0)} s), ${READS_PER_SECOND} reads/s`,
    ...result.reads.flatMap(({ read, count, p50Ms, p99Ms, plans }) => [
      `  ${read}: ${count} reads, p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`,
      ...plans.map((plan) => `      ${plan}`),
    ]),
    ...(result.faults.length === 0 ? ['no statement reads more than its page needs'] : result.faults),
  ].join('\n');
}
