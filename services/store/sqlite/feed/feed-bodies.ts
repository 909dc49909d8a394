import type { Database } from 'better-sqlite3';
import type { BodiesOfRow } from '../../log/feed-contents.ts';
import { bodyOf } from '../log/bodies-column.ts';
import { ContentReads } from '../log/contents.ts';

interface EventBodies {
  readonly event: number;
  readonly bodies: Buffer | null;
  readonly isRemoved: number;
}

type DeliveryBodies = EventBodies & { readonly own: Buffer | null };

const NONE: BodiesOfRow = { isRemoved: false, of: () => undefined };

/** Reads the bodies of what the feed's rows refer to: rows of one group of contents after the other read it once. */
export class FeedBodies {
  readonly #event;
  readonly #delivery;
  readonly #contents: ContentReads;

  constructor(db: Database) {
    this.#event = db.prepare(
      `SELECT seq AS event, bodies, bodies_removed_at IS NOT NULL AS isRemoved FROM event WHERE seq = ?`,
    );
    this.#delivery = db.prepare(
      `SELECT ev.seq AS event, ev.bodies, own.body AS own, ev.bodies_removed_at IS NOT NULL AS isRemoved
       FROM delivery d CROSS JOIN event ev ON ev.seq = d.event LEFT JOIN delivery_body own ON own.delivery = d.seq
       WHERE d.seq = ?`,
    );
    this.#contents = new ContentReads(db);
  }

  /** Returns what reads the bodies of one page. */
  reader(): { ofEvent(event: number): BodiesOfRow; ofDelivery(delivery: number): BodiesOfRow } {
    let group: ReturnType<ContentReads['groupOf']>;
    const of = (row: EventBodies | undefined, own?: Buffer | null): BodiesOfRow => {
      if (row === undefined) return NONE;
      return {
        isRemoved: row.isRemoved === 1,
        of: (apiVersion) => {
          if (own) return own;
          if (row.bodies === null && !group?.contents.has(row.event))
            group = this.#contents.groupOf(row.event);
          const bodies = row.bodies ?? group?.contents.get(row.event)?.bodies;
          return bodies && bodyOf(bodies, apiVersion);
        },
      };
    };
    return {
      ofEvent: (event) => of(this.#event.get(event) as EventBodies | undefined),
      ofDelivery: (delivery) => {
        const row = this.#delivery.get(delivery) as DeliveryBodies | undefined;
        return of(row, row?.own);
      },
    };
  }
}
