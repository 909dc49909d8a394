import type { Database } from 'better-sqlite3';
import type { DeliveryColumns } from '../../rows/log-records.ts';
import { aboutValues, IS_ABOUT } from './about-condition.ts';
import type { DeliveryRow } from './log-rows.ts';

type EventHead = Pick<
  DeliveryRow,
  'event_id' | 'entity_id' | 'subject_id' | 'sequence' | 'sub_type' | 'occurred_at'
>;

/** Which deliveries are wanted; null: any. */
export interface DeliveryConditions extends ReturnType<typeof aboutValues> {
  readonly status: number | null;
  readonly type: number | null;
  readonly subType: string | null;
}

const ANY: DeliveryConditions = { status: null, type: null, subType: null, ...aboutValues({}) };

type StoredDelivery = Omit<DeliveryColumns<Uint8Array | string>, keyof EventHead> & {
  readonly seq: number;
  readonly endpoint: number;
  readonly event: number;
};

/**
 * Reads deliveries with their event's head and the names of their endpoint and merchant. Each table has a statement of its
 * own: one that joins them takes six times as long.
 */
export class DeliveryReads {
  readonly #delivery;
  readonly #event;
  readonly #endpoint;
  readonly #merchant;

  constructor(db: Database) {
    this.#delivery = db.prepare(DeliveryReads.deliverySql);
    this.#event = db.prepare(DeliveryReads.eventSql);
    this.#endpoint = db.prepare(DeliveryReads.endpointSql);
    this.#merchant = db.prepare(DeliveryReads.merchantSql).pluck();
  }

  /** The SQL of the statements, exposed so that their query plans can be checked. */
  static readonly deliverySql = 'SELECT * FROM delivery WHERE seq = ?';
  static readonly eventSql =
    `SELECT ev.event_id, ev.entity_id, ev.subject_id, ev.sequence, ev.sub_type, ev.occurred_at
    FROM event ev WHERE ev.seq = :event AND (:subType IS NULL OR ev.sub_type = :subType) AND ${IS_ABOUT}`;
  static readonly endpointSql = 'SELECT endpoint_id, merchant FROM log_endpoint WHERE seq = ?';
  static readonly merchantSql = 'SELECT merchant_id FROM log_merchant WHERE seq = ?';

  /** Returns the delivery if it meets the conditions. */
  get(seq: number, wanted: DeliveryConditions = ANY): DeliveryRow | undefined {
    const delivery = this.#delivery.get(seq) as StoredDelivery | undefined;
    if (delivery === undefined) return undefined;
    if (wanted.status !== null && delivery.status !== wanted.status) return undefined;
    if (wanted.type !== null && delivery.type !== wanted.type) return undefined;
    const { event: number, endpoint } = delivery;
    const event = this.#event.get({ ...wanted, event: number }) as EventHead | undefined;
    const name = this.#endpoint.get(endpoint) as
      | { readonly endpoint_id: string; readonly merchant: number }
      | undefined;
    const merchant = name && (this.#merchant.get(name.merchant) as string | undefined);
    if (event === undefined || name === undefined || merchant === undefined) return undefined;
    return { ...delivery, ...event, endpoint_id: name.endpoint_id, merchant_id: merchant };
  }
}
