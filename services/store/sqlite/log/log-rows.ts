import { unpackId } from '../../../sqlite/ids.ts';
import { type DeliveryColumns, type EventColumns, recordsWith } from '../../rows/log-records.ts';

type PackedId = Uint8Array | string;

export const { toDelivery, toListed } = recordsWith<PackedId>(unpackId);

export interface DeliveryRow extends DeliveryColumns<PackedId> {
  readonly seq: number;
  readonly endpoint: number;
  readonly endpoint_id: string;
  readonly merchant_id: string;
}

export interface EventRow extends EventColumns<PackedId> {
  readonly created_at: number;
  /** Null: it is in a group of contents, or the event's bodies were removed. */
  readonly data: string | null;
}
