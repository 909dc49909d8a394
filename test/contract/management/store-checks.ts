import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { EndpointCheck } from '../../../services/domain/checks/endpoint-check.ts';
import { createEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const BY = { at: START, actor: OPERATOR } as const;

const checkOf = (url: string, at = START): EndpointCheck => ({
  ...{ at, url, result: 'failed' },
  steps: [
    {
      step: 'dns',
      result: 'failed',
      says: 'No “address”.',
      remedy: null,
      durationMs: 1.5,
      facts: { names: ['ä'] },
    },
  ],
});

/** Contract: the newest check of an endpoint. */
export function checksContract(test: StoreUnderTest): void {
  it('keeps the newest check of an endpoint through a crash, without a change of the record', async () => {
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid);
    const pending = await test.store.outbox.pending(100);
    for (const at of [START + 1, START + 2])
      expect(await test.store.endpoints.keepCheck(MERCHANT, uuid, checkOf(record.url, at))).toBe(true);
    const store = await test.crashAndReopen();
    expect(await store.endpoints.get(MERCHANT, uuid)).toEqual({
      ...record,
      newestCheck: checkOf(record.url, START + 2),
    });
    expect(await store.outbox.pending(100)).toEqual(pending);
  });

  it('forgets it with the URL, and keeps none for another URL, merchant or a deleted endpoint', async () => {
    const uuid = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, uuid);
    const { endpoints } = test.store;
    const keep = (url: string, merchantId = MERCHANT) => endpoints.keepCheck(merchantId, uuid, checkOf(url));
    expect(await keep('https://other.example.com/')).toBe(false);
    expect(await keep(record.url, 'another')).toBe(false);
    expect(await endpoints.get(MERCHANT, uuid)).toEqual(record);
    await keep(record.url);
    await endpoints.update(MERCHANT, uuid, { description: 'other' }, BY);
    expect(await endpoints.get(MERCHANT, uuid)).toMatchObject({ newestCheck: checkOf(record.url) });
    const url = 'https://moved.example.com/';
    const moved = await endpoints.update(MERCHANT, uuid, { url }, BY);
    expect(moved).toMatchObject({ record: { newestCheck: null } });
    await endpoints.remove(MERCHANT, uuid, BY);
    expect(await keep(url)).toBe(false);
  });
}
