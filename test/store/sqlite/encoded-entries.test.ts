/** Guarantee: a journal batch that comes encoded is stored like any other, and one that is malformed changes nothing. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EncodedEntries } from '../../../services/codec/encoded-entries.ts';
import { journalCodec } from '../../../services/codec/records.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { createEndpoint, eventNumber, failed, head, routed } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

const MERCHANT = 'a-merchant';

it('encoded journal entries are stored, and malformed ones are refused', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  const file = join(directory, 'store.db');
  const store = await openSqliteStore({
    file,
    clock: systemClock(),
    healthPolicy: TEST_POLICY,
    keyRing: TEST_RING,
  });
  onTestFinished(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const endpointId = randomUUID();
  await createEndpoint(store, MERCHANT, endpointId);
  const event = eventNumber(MERCHANT, 1);
  const entries = [routed(event, [endpointId]), failed(head(event, endpointId))];
  const parts = entries.map((entry) => journalCodec.toBuffer(entry));
  const longer = parts.map((part) => Buffer.concat([part, Buffer.from([0])]));
  const position = { partition: 'p', first: 1, last: 2 };
  await expect(
    store.log.applyJournal([{ ...position, entries: new EncodedEntries(longer) }]),
  ).rejects.toThrow(/ends after/);
  expect(await store.log.positionOf('p')).toBeUndefined();
  await store.log.applyJournal([{ ...position, entries: new EncodedEntries(parts) }]);
  expect(await store.log.positionOf('p')).toBe(2);
  const { records } = await store.lists.deliveries(MERCHANT, { endpointId, limit: 10 });
  expect(records.map(({ status }) => status)).toEqual(['failed']);
  expect((await store.endpoints.get(MERCHANT, endpointId))?.failureCount).toBe(1);
});
