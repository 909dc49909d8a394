import { type DeliveryColumns, type EventColumns, recordsWith } from '../../rows/log-records.ts';
import { idOf } from '../client/packed-id.ts';

export const { toDelivery, toListed } = recordsWith(idOf);

/** A row of `delivery`. */
export interface DeliveryRow extends DeliveryColumns<Buffer> {
  readonly seq: number;
  readonly merchant: number;
  readonly endpoint: number;
  readonly removed: number;
}

/** A row of `event`. */
export interface EventRow extends EventColumns<Buffer> {
  readonly seq: number;
  readonly merchant: number;
  readonly created_at: number;
  readonly removed_at: number | null;
}
