import { type Gathered, type NewNotice, PLATFORM_MERCHANT_ID } from '../domain/notices/notice.ts';
import type { CauseDeps } from './cause-deps.ts';

/** Quarantined events are told together, once for each window of this length and merchant. */
const WINDOW_MS = 15 * 60_000;
/** Younger records are left for the next look: of several writers one may be late with an older one. */
const SETTLED_MS = 20_000;
/** Records looked at in one step. */
const STEP = 500;
const PLACE = 'events.quarantined';

/** Adds to the notices of the merchants whose events were quarantined since the last look. */
export async function tellQuarantined({ store, broker, clock }: CauseDeps): Promise<void> {
  for (;;) {
    const from = await store.notices.place(PLACE);
    const after = from === null ? {} : { after: from };
    const listed = await broker.quarantine.list({ ...after, limit: STEP });
    const settled = clock.wall() - SETTLED_MS;
    const young = listed.findIndex(({ record }) => record.at > settled);
    const looked = young < 0 ? listed : listed.slice(0, young);
    const last = looked.at(-1);
    if (last === undefined) return;
    const found = looked.map(({ record }) => gathered(record));
    const isMoved = await store.notices.move(PLACE, { from, to: last.position }, found);
    if (!isMoved || looked.length < STEP) return;
  }
}

function gathered(
  record: Awaited<ReturnType<CauseDeps['broker']['quarantine']['list']>>[number]['record'],
): Gathered {
  const { merchantId, at, reason, eventId } = record;
  const to = merchantId ?? PLATFORM_MERCHANT_ID;
  const notice: NewNotice = {
    cause: `${PLACE}/${to}`,
    ...{ type: 'events.quarantined', subType: 'GATHERED', merchantId: to, endpointId: null, at },
    data: { reason, eventUuid: eventId },
  };
  return { notice, count: 1, lastAt: at, windowMs: WINDOW_MS };
}
