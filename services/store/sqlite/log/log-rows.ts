import { unpackId } from '../../../sqlite/ids.ts';
import { type DeliveryColumns, type EventColumns, recordsWith } from '../../rows/log-records.ts';

type PackedId = Uint8Array | string;

export const { toDelivery, toListed } = recordsWith<PackedId>(unpackId);

export interface DeliveryRow extends DeliveryColumns<PackedId> {
  readonly seq: number;
  readonly endpoint_id: string;
  readonly merchant_id: string;
}

/**
 * Selects a delivery with its event's head and the names of its endpoint and merchant; the condition follows. CROSS JOIN keeps the order
 * written: from the endpoint's deliveries, in the index's order, to their events and names.
 */
export const SELECT_DELIVERY = `SELECT d.*, n.endpoint_id, m.merchant_id, ev.event_id, ev.entity_id, ev.subject_id, ev.sequence,
  ev.sub_type, ev.occurred_at
  FROM delivery d CROSS JOIN event ev ON ev.seq = d.event CROSS JOIN log_endpoint n ON n.seq = d.endpoint
  CROSS JOIN log_merchant m ON m.seq = n.merchant`;

export interface EventRow extends EventColumns<PackedId> {
  readonly created_at: number;
  /** Null: it is in a group of contents, or the event's bodies were removed. */
  readonly data: string | null;
}
