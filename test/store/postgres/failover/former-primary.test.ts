/**
 * Guarantee: of two servers that accept writes, the one on the later timeline is the primary. A server that was replaced
 * and comes back is not written to, by a process that knows better.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../../services/store/postgres/client/postgres-database.ts';
import { StoreUnavailable } from '../../../../services/store/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { TcpLine } from '../../../support/faults/tcp-line.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import { createEndpoint } from '../../../support/records/journal-entries.ts';
import { type ServerPair, startServerPair, urlOf } from './server-pair.ts';

const START_MS = 60_000;

describeWherePostgresStarts('a primary that was replaced and accepts writes', () => {
  let servers: ServerPair;
  beforeAll(async () => {
    servers = await startServerPair();
    await servers.standby.promote();
  }, START_MS);
  afterAll(() => servers?.dispose(), START_MS);

  function connect(url: string): PostgresDatabase {
    const address = parsePostgresUrl(url, undefined);
    const options = { connectionsMax: 2, applicationName: 'hookrail-test', clock: systemClock() };
    const database = new PostgresDatabase({ address, ...options });
    onTestFinished(() => database.close());
    return database;
  }
  const portOf = (database: PostgresDatabase) =>
    database.read(async ({ first }) => (await first<{ readonly port: string }>('SHOW port'))?.port);

  it('is not chosen, wherever it is in the URL', async () => {
    const { primary: former, standby: successor } = servers;
    // The former primary answers first: nobody knows yet that there is a later timeline.
    const line = await TcpLine.open(successor.port);
    onTestFinished(() => line.close());
    line.slow(200);
    expect(await portOf(connect(urlOf(former, line)))).toBe(`${successor.port}`);
    expect(await portOf(connect(urlOf(line, former)))).toBe(`${successor.port}`);
  });

  it(
    'is not chosen while its successor is away',
    async () => {
      const { primary: former, standby: successor } = servers;
      const database = connect(urlOf(former, successor));
      await portOf(database);
      await successor.stop();
      await expect(portOf(database)).rejects.toThrow(/timeline 1, and this process has seen 2/);
      await expect(portOf(database)).rejects.toBeInstanceOf(StoreUnavailable);
      expect(database.isReachable).toBe(false);
      await successor.start();
      await eventually('the successor is reachable', () => database.isReachable);
      expect(await portOf(database)).toBe(`${successor.port}`);
    },
    START_MS,
  );

  it('is not written to when an address leads to it again', async () => {
    const { primary: former, standby: successor } = servers;
    const line = await TcpLine.open(successor.port);
    onTestFinished(() => line.close());
    const store = await servers.open({ url: urlOf(line) });
    const timeline = await store.outbox.timeline();
    await store.outbox.reconciled(timeline?.name ?? '');
    await createEndpoint(store, 'a-merchant', randomUUID());
    line.leadTo(former.port);
    const uuid = randomUUID();
    const result = () =>
      createEndpoint(store, 'a-merchant', uuid).then(
        () => 'created',
        (error) => `${error}`,
      );
    // A connection may be used before its end is known.
    const refusal = await eventually('it reaches a server', async () => {
      const told = await result();
      return told.includes('Connection terminated') ? null : told;
    });
    expect(refusal).toContain('the server was replaced by a standby');
    line.leadTo(successor.port);
    await eventually('it is created', async () => (await result()) === 'created');
  });
});
