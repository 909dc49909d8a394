import { afterEach, beforeEach, describe } from 'vitest';
import type { Store } from '../../services/store/store.ts';
import { healthContract } from './journal/store-health.ts';
import { journalContract } from './journal/store-journal.ts';
import { checksContract } from './management/store-checks.ts';
import { controlsContract } from './management/store-controls.ts';
import { managementContract } from './management/store-management.ts';
import { noticesContract } from './management/store-notices.ts';
import { outboxContract } from './management/store-outbox.ts';
import { platformContract } from './management/store-platform.ts';
import { portalSessionsContract } from './management/store-portal-sessions.ts';
import { secretsContract } from './management/store-secrets.ts';
import { eventFeedContract } from './merchants/store-event-feed.ts';
import { everyMerchantContract } from './merchants/store-every-merchant.ts';
import { feedContract } from './merchants/store-feed.ts';
import { listContract } from './merchants/store-lists.ts';
import { longListContract } from './merchants/store-long-lists.ts';
import { metricsContract } from './merchants/store-metrics.ts';
import { publishersContract } from './merchants/store-publishers.ts';
import { sequenceContract } from './merchants/store-sequences.ts';
import { subjectContract } from './merchants/store-subjects.ts';
import { answersContract } from './requests/store-answers.ts';
import { leasesContract } from './requests/store-leases.ts';
import { limitsContract } from './requests/store-limits.ts';
import { bodiesContract } from './store-bodies.ts';
import { logContract } from './store-log.ts';
import { keepingContract } from './store-maintenance.ts';
import type { StorePlace, StoreUnderTest } from './store-place.ts';
import { replayContract } from './store-replays.ts';

/**
 * The store's guarantees (services/store/store.ts) as tests, for every engine: resolved writes are durable, changes
 * commit with their outbox rows, a journal batch applied twice changes nothing, and no merchant can read another's data.
 */
export function storeContract(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`the ${name} store`, () => {
    const test = storeUnderTest(makePlace);
    managementContract(test);
    describe('with portal sessions', () => portalSessionsContract(test));
    describe('with the platform API', () => platformContract(test));
    describe('with prepared secrets', () => secretsContract(test));
    describe('with headers and limits', () => controlsContract(test));
    describe('with checks of endpoints', () => checksContract(test));
    describe('with operational notices', () => noticesContract(test));
    answersContract(test);
    limitsContract(test);
    leasesContract(test);
    outboxContract(test);
    journalContract(test);
    healthContract(test);
    logContract(test);
    listContract(test);
    sequenceContract(test);
    subjectContract(test);
    everyMerchantContract(test);
    longListContract(test);
    metricsContract(test);
    feedContract(test);
    eventFeedContract(test);
    replayContract(test);
    keepingContract(test);
    bodiesContract(test);
    publishersContract(test);
  });
}

/** Opens a new store for each test. */
function storeUnderTest(makePlace: () => Promise<StorePlace>): StoreUnderTest {
  let place: StorePlace;
  let store: Store;
  beforeEach(async () => {
    place = await makePlace();
    store = await place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.dispose();
  });
  return {
    get store() {
      return store;
    },
    async crashAndReopen() {
      await place.crash(store);
      store = await place.open();
      return store;
    },
    async reopen() {
      await store.close();
      store = await place.open();
      return store;
    },
  };
}
