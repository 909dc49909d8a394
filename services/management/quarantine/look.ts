import type { Broker, ClearText, RequeueOptions } from '../../broker/broker.ts';
import type { ContentFault } from '../../domain/content/content-fault.ts';
import { contentFaults } from '../../domain/content/content-faults.ts';
import type { Quarantined, QuarantineReason } from '../../domain/quarantine.ts';
import type { AddToAudit } from '../audit.ts';
import { Refused } from '../refused.ts';

/** One quarantined record in clear text, with its faults, and whether a replay would put it back. */
export interface QuarantinedLook {
  readonly record: Quarantined;
  readonly clear: ClearText;
  readonly faults: readonly ContentFault[];
  /** Why a replay would leave it where it is, were it no conflict; null: it would not. */
  readonly refusal: string | null;
}

interface Deps {
  readonly quarantine: Pick<Broker['quarantine'], 'read' | 'clearText' | 'requeue'>;
  readonly now: number;
  readonly audit: AddToAudit;
  readonly stillRefused?: RequeueOptions['stillRefused'];
}

/** Where the fault of a sound event is, for the reasons that are about one field. */
const FAULT_AT: Partial<Record<QuarantineReason, string>> = {
  unknown_merchant: '/header/merchantId',
  simulated_in_production: '/header/simulated',
  event_id_conflict: '/header/eventId',
};

/** Reads a record, which the audit has. Throws Refused when there is none; RangeError for an invalid position. */
export async function lookAtQuarantined(
  { quarantine, now, audit, stillRefused }: Deps,
  position: string,
): Promise<QuarantinedLook> {
  const record = await quarantine.read(position);
  if (!record) throw new Refused('quarantined_not_found', position);
  const { eventId, merchantId } = record;
  await audit('quarantine.show', { position, eventId }, merchantId);
  const clear = await quarantine.clearText(record);
  const { requeued, refused } = await quarantine.requeue([position], {
    isDryRun: true,
    ...(stillRefused && { stillRefused }),
  });
  const isGone = requeued === 0 && refused.length === 0;
  const refusal = isGone ? 'it is no longer in quarantine' : (refused[0]?.detail ?? null);
  return { record, clear, faults: faultsOf(record, clear, now), refusal };
}

/** Returns what is wrong with an event now; of a reason that is about one field, what was wrong when it came. */
function faultsOf({ reason, detail }: Quarantined, clear: ClearText, now: number): readonly ContentFault[] {
  if (clear.kind !== 'event') return [];
  const ofContent = clear.event === undefined ? clear.problems : contentFaults(clear.event, now);
  const pointer = FAULT_AT[reason];
  const ofReason = pointer === undefined ? [] : [{ pointer, detail }];
  return [...ofContent, ...ofReason].map(({ pointer: at, detail: why }) => ({ pointer: at, detail: why }));
}
