import { takesEvents } from '../domain/merchant.ts';
import {
  type Gathered,
  isNoticeType,
  type NewNotice,
  PLATFORM_MERCHANT_ID,
} from '../domain/notices/notice.ts';
import type { Quarantined } from '../domain/quarantine.ts';
import type { CauseDeps } from './cause-deps.ts';

/** Younger records are left for the next look: of several writers one may be late with an older one. */
const SETTLED_MS = 20_000;
/** Records looked at in one step. */
const STEP = 500;
const PLACE = 'events.quarantined';

/**
 * Adds to the notices of the merchants whose events were quarantined since the last look. The platform is told of those of
 * no merchant that takes events: what stands for one in them may be any text.
 */
export async function tellQuarantined({ store, broker, directory, clock }: CauseDeps): Promise<void> {
  for (;;) {
    const from = await store.notices.place(PLACE);
    const after = from === null ? {} : { after: from };
    const listed = await broker.quarantine.list({ ...after, limit: STEP });
    const settled = clock.wall() - SETTLED_MS;
    const young = listed.findIndex(({ record }) => record.at > settled);
    const looked = young < 0 ? listed : listed.slice(0, young);
    const last = looked.at(-1);
    if (last === undefined) return;
    const found = looked.flatMap(({ record }) => {
      const { merchantId, type } = record;
      // A notice that was put aside itself: no notice causes another.
      if (type !== undefined && isNoticeType(type)) return [];
      const isKnown = merchantId !== null && takesEvents(directory.merchant(merchantId));
      return gathered(record, isKnown ? merchantId : PLATFORM_MERCHANT_ID);
    });
    const isMoved = await store.notices.move(PLACE, { from, to: last.position }, found);
    if (!isMoved || looked.length < STEP) return;
  }
}

function gathered({ at, reason, eventId }: Quarantined, merchantId: string): Gathered {
  const notice: NewNotice = {
    cause: `${PLACE}/${merchantId}`,
    ...{ type: 'events.quarantined', subType: 'GATHERED', merchantId, endpointId: null, at },
    data: { reason, eventUuid: eventId },
  };
  return { notice, count: 1, lastAt: at };
}
