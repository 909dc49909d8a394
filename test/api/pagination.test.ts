/**
 * Guarantee: a list that is read page by page has one order and shows every entry that existed all the time exactly
 * once, none twice, and none that was deleted before its page, whatever changes between two pages.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryId } from '../../services/domain/ids.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../support/api/test-api.ts';
import {
  delivered,
  eventNumber,
  failed,
  head,
  journalOf,
  routed,
} from '../support/records/journal-entries.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ endpointQuota: 100_000 });
});
afterAll(() => api.close());

interface Page {
  readonly data: readonly Record<string, string>[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

async function pageOf(path: string, limit: number, cursor: string | null): Promise<Page> {
  const { status, body } = await api.call(
    'GET',
    `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`,
  );
  expect(status).toBe(200);
  expect(body.has_more).toBe(body.next_cursor !== null);
  return body;
}

const change = fc.record({
  kind: fc.constantFrom('create', 'delete', 'update', 'disable'),
  at: fc.nat(),
});

test('pages of endpoints stay consistent while others are created, deleted and changed', {
  timeout: 120_000,
}, async () => {
  const present: string[] = [];
  const steps = fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), steps, async (limit, between) => {
      while (present.length < 8) present.push((await createEndpoint(api)).uuid);
      const throughout = new Set(present);
      const gone = new Set<string>();
      const seen: Record<string, string>[] = [];
      let cursor: string | null = null;
      const rest = [...between];
      do {
        const page: Page = await pageOf(ENDPOINTS, limit, cursor);
        for (const record of page.data) expect(gone.has(String(record.uuid))).toBe(false);
        seen.push(...page.data);
        cursor = page.next_cursor;
        for (const { kind, at } of rest.shift() ?? []) {
          const index = at % Math.max(1, present.length);
          const uuid = present[index];
          if (kind === 'create' || uuid === undefined) {
            present.push((await createEndpoint(api)).uuid);
            continue;
          }
          const path = `${ENDPOINTS}/${uuid}`;
          if (kind === 'delete') {
            await api.call('DELETE', path);
            present.splice(index, 1);
            throughout.delete(uuid);
            gone.add(uuid);
          } else {
            const json = kind === 'update' ? { description: `${at}` } : { status: 'disabled' };
            await api.call('PATCH', path, { json });
          }
        }
      } while (cursor !== null);
      const uuids = seen.map(({ uuid }) => String(uuid));
      expect(new Set(uuids).size).toBe(uuids.length);
      for (const uuid of throughout) expect(uuids).toContain(uuid);
      const keys = seen.map(({ created_at, uuid }) => `${created_at}/${uuid}`);
      expect(keys).toEqual([...keys].sort().reverse());
    }),
    { numRuns: 25 },
  );
});

test('pages of deliveries stay consistent while others come and these change', {
  timeout: 120_000,
}, async () => {
  const { uuid } = await createEndpoint(api);
  const path = `${ENDPOINTS}/${uuid}/deliveries`;
  const apply = journalOf(api.store, 'pages');
  let made = 0;
  const route = async (count: number) => {
    const events = Array.from({ length: count }, () => {
      made += 1;
      // Some of one millisecond, so that the order cannot be the time's alone.
      return { ...eventNumber(api.merchantId, made), occurredAt: Date.UTC(2030, 0, 1) + (made >> 1) };
    });
    await apply(...events.map((event) => routed(event, [uuid])));
    return events;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.record({ come: fc.nat({ max: 3 }), change: fc.nat() }), { maxLength: 10 }),
      async (limit, between) => {
        const events = await route(5);
        const before = (await pageOf(path, 100, null)).data.map(({ delivery_uuid }) => delivery_uuid);
        const seen: unknown[] = [];
        let cursor: string | null = null;
        const rest = [...between];
        do {
          const page: Page = await pageOf(path, limit, cursor);
          seen.push(...page.data.map(({ delivery_uuid }) => delivery_uuid));
          cursor = page.next_cursor;
          const step = rest.shift();
          if (!step) continue;
          await route(step.come);
          const event = events[step.change % events.length];
          if (event) {
            const made = head(event, uuid);
            await apply(step.change % 2 === 0 ? delivered(made) : failed(made));
          }
        } while (cursor !== null);
        const old = seen.filter((id) => before.includes(String(id)));
        expect(old.slice(0, before.length)).toEqual(before);
        expect(new Set(seen).size).toBe(seen.length);
        for (const event of events) expect(seen).toContain(deliveryId(event.eventId, uuid));
      },
    ),
    { numRuns: 15 },
  );
});
