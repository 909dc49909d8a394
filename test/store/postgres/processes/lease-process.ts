/**
 * A process of its own for leases.test.ts: holds the lease `api` of the database at the URL, and prints a line, with the
 * milliseconds since the epoch, whenever its jobs start and end. It runs until it is killed.
 */
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';

const [url = ''] = process.argv.slice(2);
const address = parsePostgresUrl(url, undefined);
const store = await openPostgresStore({
  address,
  clock: systemClock(),
  connectionsMax: 2,
  healthPolicy: { withoutSuccessMs: 1, failedAttempts: 1 },
  leafMs: 3_600_000,
});
const say = (what: string) => process.stdout.write(`${what} ${Date.now()}\n`);
await store.leases.hold('api', async () => {
  say('started');
  return async () => void say('ended');
});
say('waits');
process.on('SIGTERM', () => void store.close());
