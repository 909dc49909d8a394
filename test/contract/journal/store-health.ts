import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createEndpoint,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  OPERATOR,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';

export function healthContract(test: StoreUnderTest): void {
  describe('the health of endpoints', () => health(test));
}

function health(test: StoreUnderTest): void {
  const failures = (endpointId: string, count: number, at: number, version = 1) =>
    Array.from({ length: count }, (_, n) => {
      const attempt = (n % 7) + 1;
      const event = eventNumber(MERCHANT, at / HOUR_MS + Math.floor(n / 7) / 100);
      const startedAt = START + at + n;
      return failed(head(event, endpointId, { attempt }), 'http_5xx', {
        startedAt,
        endpointVersion: version,
      });
    });

  it('disables an endpoint that only fails, once, with its outbox row', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const apply = journalOf(test.store);
    let woken = 0;
    await apply(...failures(endpointId, 7, HOUR_MS));
    const { endpoints, outbox } = test.store;
    expect(await endpoints.get(MERCHANT, endpointId)).toMatchObject({ status: 'active', failureCount: 7 });
    outbox.onAdded(() => {
      woken += 1;
    });
    await apply(...failures(endpointId, 3, 30 * HOUR_MS));
    expect(await endpoints.get(MERCHANT, endpointId)).toMatchObject({
      status: 'auto_disabled',
      disabledReason: 'consecutive_failures',
      version: 2,
      failureCount: 8,
    });
    expect(woken).toBe(1);
    const last = (await outbox.pending(10)).at(-1)?.change;
    expect(last).toMatchObject({
      id: endpointId,
      version: 2,
      value: { status: 'auto_disabled', version: 2 },
    });
    // After reactivation counting starts anew: attempts under the old version do not count.
    await endpoints.update(
      MERCHANT,
      endpointId,
      { status: 'active' },
      { at: START + 31 * HOUR_MS, actor: OPERATOR },
    );
    await apply(...failures(endpointId, 7, 60 * HOUR_MS, 2));
    expect(await endpoints.get(MERCHANT, endpointId)).toMatchObject({
      status: 'active',
      failureCount: 0,
      version: 3,
    });
  });

  it('counts from the last change of the URL on, and no failure at a previous URL', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const { endpoints } = test.store;
    const apply = journalOf(test.store);
    await apply(...failures(endpointId, 7, HOUR_MS));
    const move = (url: string, hours: number) =>
      endpoints.update(MERCHANT, endpointId, { url }, { at: START + hours * HOUR_MS, actor: OPERATOR });
    await move('https://moved.example.com/', 29);
    // Late entries of the old URL do not count, and the new ones span too short a time.
    await apply(...failures(endpointId, 7, 30 * HOUR_MS, 1));
    expect(await endpoints.get(MERCHANT, endpointId)).toMatchObject({ status: 'active', failureCount: 0 });
    await apply(...failures(endpointId, 14, 31 * HOUR_MS, 2));
    expect(await endpoints.get(MERCHANT, endpointId)).toMatchObject({ status: 'active', failureCount: 14 });
    // Setting the same URL again is not a change.
    await move('https://moved.example.com/', 32);
    await apply(...failures(endpointId, 1, 60 * HOUR_MS, 3));
    expect(await endpoints.get(MERCHANT, endpointId)).toMatchObject({ status: 'auto_disabled' });
  });

  it('disables an endpoint at a 410, but not at one of a test', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const event = eventNumber(MERCHANT, 1);
    const tried = head(event, endpointId, { trigger: 'test', attemptsMax: 1, deliveryId: randomUUID() });
    const apply = journalOf(test.store);
    await apply(failed(tried, 'endpoint_gone'));
    expect(await test.store.endpoints.get(MERCHANT, endpointId)).toMatchObject({
      status: 'active',
      failureCount: 0,
    });
    await apply(failed(head(event, endpointId), 'endpoint_gone'));
    const store = await test.crashAndReopen();
    expect(await store.endpoints.get(MERCHANT, endpointId)).toMatchObject({
      status: 'auto_disabled',
      disabledReason: 'gone',
      lastFailure: { code: 'endpoint_gone', responseStatus: null },
    });
  });
}
