/**
 * Guarantee: of all processes on a database, one at a time runs the jobs of a lease. It is succeeded within six seconds of
 * its death or stall, at once when it stops, and ends its jobs itself when it cannot renew the lease.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../../services/store/postgres/client/postgres-database.ts';
import { PostgresLeases } from '../../../../services/store/postgres/requests/postgres-leases.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWithPostgres } from '../../../support/postgres/suites.ts';
import { type PostgresPlace, postgresPlace } from '../postgres-place.ts';

const SCRIPT = fileURLToPath(new URL('./lease-process.ts', import.meta.url));
/** A lease lasts five and a half seconds, and a process that waits for it asks twice a second. */
const SUCCEEDED_MS = 6_000;
const MARGIN_MS = 1_000;
const LINE_EVENTS = /^lease_/;

interface Line {
  readonly who: number;
  readonly what: string;
  readonly at: number;
}

await describeWithPostgres('the leases of several processes', (createDatabase) => {
  let place: PostgresPlace;
  let children: ChildProcess[] = [];
  let lines: Line[] = [];
  beforeEach(async () => {
    place = await postgresPlace(createDatabase, systemClock());
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
    lines = [];
    await place.dispose();
  });

  /** Starts a process that wants the lease. Resolves when it has tried. */
  async function start(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, place.database.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const who = children.push(child) - 1;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [what = '', at = ''] = line.split(' ');
      lines.push({ who, what, at: Number(at) });
    });
    await eventually('it has tried', () => lines.some((line) => line.who === who && line.what === 'waits'));
    return child;
  }
  const startsOf = (who: number) => lines.filter((line) => line.who === who && line.what === 'started');
  const toStart = (who: number) =>
    eventually(`process ${who} starts the jobs`, () => startsOf(who)[0], SUCCEEDED_MS + 5_000);

  it('pass on when the holder is killed', async () => {
    const first = await start();
    await start();
    expect(lines.map(({ who, what }) => `${who} ${what}`)).toEqual(['0 started', '0 waits', '1 waits']);
    const killedAt = Date.now();
    first.kill('SIGKILL');
    const { at } = await toStart(1);
    expect(at - killedAt).toBeLessThan(SUCCEEDED_MS + MARGIN_MS);
  });

  it('pass on when the holder stops, before its lease would have ended', async () => {
    const first = await start();
    await start();
    first.kill('SIGTERM');
    const { at } = await toStart(1);
    const ended = lines.find(({ who, what }) => who === 0 && what === 'ended');
    expect(at).toBeGreaterThanOrEqual(ended?.at ?? Number.POSITIVE_INFINITY);
    expect(at - (ended?.at ?? 0)).toBeLessThan(2_000 + MARGIN_MS);
  });

  it('end for a holder that wakes up after another process took over', async () => {
    const first = await start();
    await start();
    first.kill('SIGSTOP');
    await toStart(1);
    first.kill('SIGCONT');
    await eventually('the first ends its jobs', () =>
      lines.some(({ who, what }) => who === 0 && what === 'ended'),
    );
    expect(startsOf(0)).toHaveLength(1);
  });

  it('are ended by a holder that cannot renew, before another one can start', async () => {
    await start();
    await start();
    // Nobody can renew: the first counts itself out, and whoever is first afterwards starts.
    const unlock = await lockTable(place);
    const ended = await eventually(
      'the first ends its jobs',
      () => lines.find(({ who, what }) => who === 0 && what === 'ended'),
      SUCCEEDED_MS,
    );
    await unlock();
    const next = await eventually('the jobs start again', () => [...startsOf(0).slice(1), ...startsOf(1)][0]);
    expect(next.at).toBeGreaterThanOrEqual(ended.at);
  });

  it('are told as taken again when the answer to a renewal comes after the holder counted itself out', async () => {
    const told: unknown[] = [];
    const write = (line: string) => {
      const { event } = JSON.parse(line);
      if (LINE_EVENTS.test(event)) told.push(event);
    };
    const clock = systemClock();
    const database = new PostgresDatabase({
      ...{ address: parsePostgresUrl(place.database.url, undefined), clock, connectionsMax: 1 },
      applicationName: 'hookrail-test',
    });
    const leases = new PostgresLeases({ database, clock, log: createLogger('info', { write }) });
    await leases.hold('api', async () => () => Promise.resolve());
    const unlock = await lockTable(place);
    await eventually('it counts itself out', () => told.at(-1) === 'lease_lost');
    await unlock();
    await eventually('it has the lease again', () => leases.names.length > 0);
    expect(told).toEqual(['lease_taken', 'lease_lost', 'lease_taken']);
    await leases.close();
    await database.close();
  });
});

/** Keeps everybody from the leases, as a network that was cut does. Returns a function that ends it. */
async function lockTable({ database }: PostgresPlace): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE lease IN ACCESS EXCLUSIVE MODE');
  return () => client.end();
}
