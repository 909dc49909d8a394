import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventNumber, HOUR_MS, journalOf, routed, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const ANOTHER = 'another';
/** More than a page examines. */
const EVENTS = 12_000;
const PER_BATCH = 1000;
/** Every so many events have the type that is searched for. */
const RARE = 1999;
const KYC = { type: 'KYC', subType: 'KYC_PENDING' } as const;
const CALLERS = 10;
const TIMEOUT_MS = 120_000;

/** Lists whose filter matches little. */
export function longListContract(test: StoreUnderTest): void {
  /** Events of two merchants, in the same hours, each for one endpoint. */
  async function filled() {
    const apply = journalOf(test.store);
    const endpoints = new Map([MERCHANT, ANOTHER].map((id) => [id, randomUUID()]));
    const rare: string[] = [];
    for (let n = 0; n < EVENTS; n += PER_BATCH) {
      const events = Array.from({ length: PER_BATCH }, (_, each) => {
        const number = n + each;
        const occurredAt = START + (number % 24) * HOUR_MS + number;
        const event = eventNumber(number % 12 === 0 ? ANOTHER : MERCHANT, number, { occurredAt });
        return event.merchantId === MERCHANT && number % RARE === 1 ? { ...event, ...KYC } : event;
      });
      rare.push(...events.filter(({ type }) => type === 'KYC').map(({ eventId }) => eventId));
      await apply(...events.map((event) => routed(event, [endpoints.get(event.merchantId) ?? ''])));
    }
    return rare;
  }

  describe('a list whose filter matches little', () => {
    it('has every match once, in pages that end early', { timeout: TIMEOUT_MS }, async () => {
      const rare = await filled();
      expect(rare.length).toBeGreaterThan(3);
      const { lists } = test.store;
      const read = {
        deliveries: async (options: { limit: number; after?: string }) => {
          const { records, next } = await lists.deliveries(MERCHANT, { ...options, type: 'KYC' });
          return { ids: records.map(({ eventId }) => eventId), next };
        },
        events: async (options: { limit: number; after?: string }) => {
          const { records, next } = await lists.events(MERCHANT, { ...options, type: 'KYC' });
          return { ids: records.map(({ event }) => event.eventId), next };
        },
      };
      for (const [name, page] of Object.entries(read)) {
        for (const limit of [1, 100]) {
          const seen: string[] = [];
          let after: string | undefined;
          do {
            const { ids, next } = await page({ limit, ...(after && { after }) });
            expect(ids.length).toBeLessThanOrEqual(limit);
            seen.push(...ids);
            after = next ?? undefined;
          } while (after !== undefined);
          expect([name, limit, new Set(seen)]).toEqual([name, limit, new Set(rare)]);
          expect([name, limit, seen.length]).toEqual([name, limit, rare.length]);
        }
      }
      const nothing = { limit: 100, type: 'KYB' } as const;
      const first = await lists.deliveries(MERCHANT, nothing);
      expect([first.records, first.next === null]).toEqual([[], false]);
      expect(await lists.events(MERCHANT, { ...nothing, until: START })).toEqual({ records: [], next: null });
    });

    it('lets other reads in between, and other merchants take turns', { timeout: TIMEOUT_MS }, async () => {
      await filled();
      const { lists, keys } = test.store;
      const nothing = { limit: 100, type: 'KYB' } as const;
      let over = 0;
      const one = async (merchantId: string, name: 'deliveries' | 'events') => {
        await lists[name](merchantId, nothing);
        over += 1;
      };
      const all = Array.from({ length: CALLERS }, (_, n) => one(MERCHANT, n % 2 ? 'events' : 'deliveries'));
      // Each waits for a step of one page at most, and not for all pages.
      for (let n = 0; n < CALLERS; n += 1) await keys.findByHash(new Uint8Array(32));
      expect(over, 'pages that ended before ten short reads did').toBeLessThan(CALLERS / 2);
      // Twelve times fewer rows: it needs that many turns less.
      await lists.deliveries(ANOTHER, nothing);
      expect(over, 'pages that ended before one of another merchant did').toBeLessThan(CALLERS);
      await Promise.all(all);
    });
  });
}
