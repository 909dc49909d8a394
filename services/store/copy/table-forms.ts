import { STATUS, TRIGGER } from '../log/codes.ts';
import { ATTEMPTS_PER_DELIVERY } from '../log/delivery.ts';
import { FEED_KIND } from '../log/log-rows.ts';
import { BODY_KIND } from '../postgres/log/bodies.ts';
import { TALLIED_TO } from '../sqlite/lists/metric-reads.ts';

/** Rows of the SQLite store for one table of PostgreSQL. */
export interface TableForm {
  /** Follows FROM; `t` is the table whose columns have the names of PostgreSQL's. */
  readonly from: string;
  /** The columns of PostgreSQL that are not columns of `t`. */
  readonly columns?: Readonly<Record<string, string>>;
}

const { routed, line, attempt, endpoint } = FEED_KIND;

/** A replay's place names the event by its id, of one that sends everything by its number; where several were missed in its millisecond, all of these come again. */
const PLACE = `CASE WHEN t.kind = 'all' THEN t.place WHEN t.place IS NOT NULL THEN (
  SELECT endpoint || '.' || at || '.' || CASE WHEN EXISTS (
    SELECT 1 FROM missed m JOIN log_endpoint n ON n.seq = m.endpoint JOIN endpoint e ON e.uuid = n.endpoint_id
    WHERE e.seq = p.endpoint AND m.created_at = p.at AND m.event <> p.event
  ) THEN '' ELSE coalesce((SELECT id_hex(event_id) FROM event WHERE seq = p.event), '') END
  FROM (
    SELECT CAST(list ->> 0 AS INTEGER) AS endpoint, CAST(list ->> 1 AS INTEGER) AS at, CAST(list ->> 2 AS INTEGER) AS event
    FROM (SELECT '["' || replace(t.place, '.', '","') || '"]' AS list)
  ) p) END`;

/**
 * The tables that the two engines keep in different forms. A table that is not here has the same name and columns in both.
 * Events without a routing are left out: their deliveries have what is known of them. So are missed events whose own
 * delivery was deleted, which nobody can resend.
 */
export const FORMS: Readonly<Record<string, readonly TableForm[]>> = {
  endpoint: [{ from: 'endpoint t', columns: { health_generation: '0' } }],
  endpoint_health: [{ from: 'endpoint_health t', columns: { generation: '0' } }],
  log_merchant: [
    { from: 'log_merchant t', columns: { feed_to: '(SELECT coalesce(max(seq), 0) FROM feed)' } },
  ],
  replay: [{ from: 'replay t', columns: { place: PLACE } }],
  event: [{ from: 'event t WHERE t.routed_at IS NOT NULL', columns: { removed_at: 't.bodies_removed_at' } }],
  delivery: [
    {
      from: 'delivery t CROSS JOIN event ev ON ev.seq = t.event',
      columns: {
        ...{
          event_id: 'ev.event_id',
          entity_id: 'ev.entity_id',
          subject_id: 'ev.subject_id',
          sequence: 'ev.sequence',
          occurred_at: 'ev.occurred_at',
        },
        ...{ merchant: 'ev.merchant', sub_type: 'ev.sub_type', removed: 'ev.bodies_removed_at IS NOT NULL' },
      },
    },
  ],
  tally_delta: [{ from: `attempt_content t WHERE t.seq > (${TALLIED_TO}) AND t.tallies IS NOT NULL` }],
  attempt: [
    {
      from: `attempt t CROSS JOIN delivery d ON d.seq = t.attempt_id / ${ATTEMPTS_PER_DELIVERY}`,
      columns: {
        created_at: 'd.created_at',
        truncated:
          'CASE WHEN t.response_status IS NOT NULL THEN attempt_truncated(t.attempt_id, t.content) END',
        headers: 'attempt_headers(t.attempt_id, t.content)',
        signature: 'attempt_signature(t.attempt_id, t.content)',
      },
    },
  ],
  body: [
    { from: 'event_body t' },
    {
      from: 'delivery_body b CROSS JOIN delivery t ON t.seq = b.delivery',
      columns: { owner: 't.seq', kind: `${BODY_KIND.own}`, n: '0', codec: '0', bytes: 'b.body' },
    },
    {
      from: `attempt a CROSS JOIN delivery t ON t.seq = a.attempt_id / ${ATTEMPTS_PER_DELIVERY}
        WHERE length(attempt_body(a.attempt_id, a.content)) > 0`,
      columns: {
        ...{ owner: 't.seq', kind: `${BODY_KIND.response}`, n: `a.attempt_id % ${ATTEMPTS_PER_DELIVERY}` },
        ...{ codec: '0', bytes: 'attempt_body(a.attempt_id, a.content)' },
      },
    },
  ],
  failing: [
    {
      from: `delivery t CROSS JOIN event ev ON ev.seq = t.event WHERE t.status > ${STATUS.of.delivered}`,
      columns: { merchant: 'ev.merchant' },
    },
  ],
  missed: [
    {
      from: `missed t CROSS JOIN event ev ON ev.seq = t.event LEFT JOIN delivery d ON d.seq = t.delivery
        WHERE (t.delivery IS NULL OR d.seq IS NOT NULL) AND (ev.routed_at IS NOT NULL OR d.trigger = ${TRIGGER.of.live})`,
      columns: { event_id: 'ev.event_id', delivery_id: 'd.delivery_id', delivery_at: 'd.created_at' },
    },
  ],
  feed: [
    {
      from: `feed t LEFT JOIN event ev ON ev.seq = CASE WHEN t.kind IN (${routed}, ${line}) THEN t.ref END
        LEFT JOIN delivery d ON d.seq = CASE WHEN t.kind = ${attempt} THEN t.ref / ${ATTEMPTS_PER_DELIVERY}
        WHEN t.kind NOT IN (${routed}, ${line}, ${endpoint}) THEN t.ref END`,
      columns: {
        ...{ created_at: 't.at', event_id: 'ev.event_id', delivery_id: 'd.delivery_id' },
        ref: `CASE WHEN t.kind IN (${attempt}, ${endpoint}) THEN t.ref END`,
        ref_at: 'coalesce(ev.created_at, d.created_at)',
      },
    },
  ],
};

/** Columns of the SQLite store that PostgreSQL does not have by this name: the forms above read them, or they order rows. */
export const OTHER_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  event: ['last_at', 'data', 'bodies', 'bodies_removed_at'],
  content: ['seq', 'bytes'],
  delivery: ['event'],
  delivery_body: ['delivery', 'body'],
  attempt: ['content'],
  attempt_content: ['seq', 'bytes', 'first_at', 'last_at', 'tallies'],
  missed: ['event', 'delivery'],
  feed: ['at'],
};

/** Tables of one engine only: its own indexes, state and means. */
export const NOT_COPIED = {
  sqlite: [
    ...[
      'meta',
      'backup',
      'event_by_id',
      'event_by_merchant',
      'event_about',
      'delivery_by_id',
      'delivery_by_endpoint',
      'delivery_by_event',
    ],
    'feed_by_merchant',
  ],
  postgres: ['meta', 'layout', 'lease', 'request_window', 'erased_leaf'],
} as const;
