import type { Broker } from '../broker/broker.ts';
import type { ParkedReason } from '../domain/task.ts';
import type { CauseDeps } from './cause-deps.ts';

/** Late for longer than this is told. */
const LATE_MS = 5 * 60_000;
/** Late for less than this is on time again. */
const ON_TIME_MS = 60_000;
/** The place in the store: since when deliveries are late, milliseconds since the epoch; empty: they are on time. */
const PLACE = 'events.delayed';

/** The reasons for which an attempt is put off by our own fault. */
const OWN_FAULTS: readonly ParkedReason[] = [
  'secret_not_openable',
  'signing_key_missing',
  'machine_limit',
  'egress_proxy',
  'network_down',
];

/** Adds a notice when deliveries have become late by our own fault, and one when they are on time again. */
export async function tellDelays({ store, broker, clock }: CauseDeps): Promise<void> {
  const from = await store.notices.place(PLACE);
  const lateMs = lateness(broker.status());
  // Not known now.
  if (lateMs === null) return;
  const now = Math.floor(clock.wall());
  const notice = { type: 'events.delayed', merchantId: null, endpointId: null, at: now } as const;
  const began = from === null || from === '' ? null : Number(from);
  if (began === null && lateMs >= LATE_MS) {
    const since = now - Math.floor(lateMs);
    const found = {
      ...notice,
      cause: `${PLACE}/${since}`,
      subType: 'BEGAN',
      data: { from: since, until: null },
    };
    await store.notices.move(PLACE, { from, to: `${since}` }, [found]);
  } else if (began !== null && lateMs < ON_TIME_MS) {
    const ended = { ...notice, cause: `${PLACE}/${began}/ended`, subType: 'ENDED' };
    await store.notices.move(PLACE, { from, to: '' }, [{ ...ended, data: { from: began, until: now } }]);
  }
}

/** Returns for how long the oldest event or attempt has waited for us, milliseconds; null: it is not known. */
function lateness({ oldestOverdueMs, partitions, parked }: ReturnType<Broker['status']>): number | null {
  if (oldestOverdueMs === null) return null;
  const unrouted = partitions.flatMap(({ stream, oldestMs }) => (stream === 'events' ? [oldestMs] : []));
  const putOff = parked.flatMap(({ reason, oldestMs }) => (OWN_FAULTS.includes(reason) ? [oldestMs] : []));
  return Math.max(oldestOverdueMs, ...unrouted, ...putOff);
}
