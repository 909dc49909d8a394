import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteBroker, type SqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { brokerContract } from '../../contract/broker.contract.ts';

const RETRY_SCALE = 1_000;

brokerContract('sqlite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-broker-'));
  const clock = systemClock();
  return {
    clock,
    retryScale: RETRY_SCALE,
    open: () => openSqliteBroker({ file: join(folder, 'broker.db'), clock, retryScale: RETRY_SCALE }),
    crash: (broker) => (broker as SqliteBroker).abandon(),
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
});
