import { TRANSACTION_TYPES } from '../../../domain/catalog/subject.ts';
import { packId } from '../../../sqlite/ids.ts';
import type { About } from '../../log/about.ts';
import { EVENT_TYPE } from '../../log/codes.ts';

const TRANSACTIONS = TRANSACTION_TYPES.map((type) => EVENT_TYPE.of[type]).join(', ');

/** The condition on what an event is about. */
export const IS_ABOUT = `(:entity IS NULL OR ev.entity_id = :entity)
  AND (:subject IS NULL OR coalesce(ev.subject_id, ev.entity_id) = :subject)
  AND (:transaction IS NULL OR (ev.subject_id = :transaction AND ev.type IN (${TRANSACTIONS})))`;

type PackedId = Buffer | string | null;

/** Returns the values of IS_ABOUT. */
export function aboutValues({ entityId, subjectId, transactionId }: About) {
  const packed = (id: string | undefined): PackedId => (id === undefined ? null : packId(id));
  return { entity: packed(entityId), subject: packed(subjectId), transaction: packed(transactionId) };
}
