import type { Database } from 'better-sqlite3';
import { packId } from '../../../sqlite/ids.ts';
import { ABOUT_EVENTS_MAX, type About, aboutIdOf } from '../../log/about.ts';
import { byNewest, type ListKey } from '../../log/list-cursor.ts';
import { aboutValues, IS_ABOUT } from '../log/about-condition.ts';
import { listedToSql } from '../log/list-index.ts';
import type { EventRow } from '../log/log-rows.ts';

/** A row of the event list. `is_about`: 0 where it is not what the filter selects; absent where all are. */
export type ListedRow = EventRow & {
  readonly seq: number;
  readonly merchant: number;
  readonly is_about?: number;
};

/** Without the data and the bodies, which take most of a row. */
export const EVENT_COLUMNS = `ev.seq, ev.merchant, ev.event_id, ev.entity_id, ev.subject_id, ev.sequence, ev.entity_kind, ev.type, ev.sub_type,
  ev.occurred_at, ev.simulated, ev.created_at, ev.routed_at, ev.trace, ev.published_by`;

/** Selects the events that the index has under a key. */
const listedWhere = (condition: string) =>
  `SELECT ${EVENT_COLUMNS} FROM event_about a CROSS JOIN event ev ON ev.seq = a.event
    WHERE ${condition} AND ${IS_ABOUT} LIMIT :limit`;

/** Finds what a filter by entity, subject or transaction selects, where that is little. */
export class AboutReads {
  readonly #listed;
  readonly #everyListed;
  readonly #unlisted;
  readonly #listedDeliveries;
  readonly #unlistedDeliveries;

  constructor(db: Database) {
    this.#listed = db.prepare(AboutReads.listedSql);
    this.#everyListed = db.prepare(AboutReads.everyListedSql);
    this.#unlisted = db.prepare(AboutReads.unlistedSql);
    this.#listedDeliveries = db.prepare(AboutReads.listedDeliveriesSql);
    this.#unlistedDeliveries = db.prepare(AboutReads.unlistedDeliveriesSql);
  }

  /** The SQL of the statements, exposed so that their query plans can be checked. */
  static readonly everyListedSql = listedWhere('a.key = substr(:id, -5)');
  static readonly listedSql = listedWhere('a.key = substr(:id, -5) AND a.merchant = :merchant');

  /** The SQL of the events that the index does not have yet. */
  static readonly unlistedSql = `SELECT ${EVENT_COLUMNS} FROM event ev
    WHERE ev.seq > (${listedToSql('event')}) AND (:merchant IS NULL OR ev.merchant = :merchant) AND ${IS_ABOUT} LIMIT :limit`;

  static readonly listedDeliveriesSql = `SELECT d.created_at AS createdAt, d.seq
    FROM delivery_by_event l CROSS JOIN delivery d ON d.seq = l.delivery
    WHERE l.event = :event AND (:endpoint IS NULL OR d.endpoint = :endpoint)`;

  /** The SQL of the deliveries that the index does not have yet. */
  static readonly unlistedDeliveriesSql = `SELECT created_at AS createdAt, seq FROM delivery
    WHERE seq > (${listedToSql('delivery')}) AND (:endpoint IS NULL OR endpoint = :endpoint)
      AND event IN (SELECT value FROM json_each(:events))`;

  /** Returns the events of a merchant, or of all (null), newest first; undefined where the filter does not say or there are too many to sort. */
  events(merchant: number | null, filter: About): ListedRow[] | undefined {
    const aboutId = aboutIdOf(filter);
    if (aboutId === undefined) return undefined;
    const conditions = aboutValues(filter);
    const limit = ABOUT_EVENTS_MAX + 1;
    const values = { id: packId(aboutId), merchant, ...conditions, limit };
    const { id: _, ...unlisted } = values;
    const { merchant: __, ...ofEvery } = values;
    const listed = merchant === null ? this.#everyListed.all(ofEvery) : this.#listed.all(values);
    const rows = [...listed, ...this.#unlisted.all(unlisted)] as ListedRow[];
    if (rows.length > ABOUT_EVENTS_MAX) return undefined;
    return rows.sort((one, other) => other.created_at - one.created_at || other.seq - one.seq);
  }

  /** Returns the keys of the events' deliveries, newest first; undefined as `events`. */
  deliveries(merchant: number | null, filter: About, endpoint: number | null): ListKey[] | undefined {
    const events = this.events(merchant, filter);
    if (events === undefined) return undefined;
    const seqs = events.map(({ seq }) => seq);
    const keys = [
      ...seqs.flatMap((event) => this.#listedDeliveries.all({ event, endpoint })),
      ...this.#unlistedDeliveries.all({ events: JSON.stringify(seqs), endpoint }),
    ];
    return (keys as ListKey[]).sort(byNewest);
  }
}
