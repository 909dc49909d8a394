import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { eventNumber, journalOf, routed } from '../../support/records/journal-entries.ts';

/**
 * A process of its own for files.test.ts: writes until it is killed and says what was acknowledged.
 */
const [file = '', endpointId = ''] = process.argv.slice(2);
const policy = { withoutSuccessMs: 1, failedAttempts: 1 };
const store = await openSqliteStore({ file, clock: systemClock(), healthPolicy: policy });
const apply = journalOf(store);
for (let n = 0; ; n += 1) {
  await apply(routed(eventNumber('a-merchant', n), [endpointId]));
  process.stdout.write(`${n + 1}\n`);
}
