/**
 * The delivery log. Its tables are partitioned by `created_at` (leaves/leaf.ts): of a delivery, when hookrail accepted its
 * event or the request for it; of an event, when it was accepted; the rows of one delivery are in leaves of one span. Words
 * are small numbers (services/store/log/codes.ts), merchants and endpoints the numbers of log_merchant and log_endpoint.
 * Ids are bytes (client/packed-id.ts). There is no default leaf: it would keep leaves from being detached while others write.
 *
 * Unique indexes are of each leaf alone (leaves/leaves.ts): of the whole table they would have to contain `created_at`.
 */
export const logTables = `
CREATE TABLE journal_position (partition text COLLATE "C" PRIMARY KEY, last bigint NOT NULL);

CREATE TABLE log_merchant (
  seq int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL UNIQUE,
  -- Of the feed: the newest row, and the newest that was deleted.
  feed_to bigint NOT NULL DEFAULT 0,
  feed_removed_to bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE log_endpoint (
  seq int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  endpoint_id text COLLATE "C" NOT NULL UNIQUE,
  merchant int NOT NULL
);

CREATE INDEX log_endpoint_of_merchant ON log_endpoint (merchant);

-- Rows are numbered in blocks, one block for each value.
CREATE SEQUENCE log_block;

-- trace: see services/store/log/trace-lines.ts. removed_at: when its bodies were removed, by an erasure.
-- published_by: the id of the key that published it, or 'kafka'; null where it is not known. subject_id: what it is about;
-- null = the entity. sequence: its place among the entity's events; 0: it has none.
CREATE TABLE event (
  seq bigint NOT NULL,
  created_at bigint NOT NULL,
  sequence bigint NOT NULL,
  merchant int NOT NULL,
  event_id bytea NOT NULL,
  entity_id bytea NOT NULL,
  entity_kind smallint NOT NULL,
  type smallint NOT NULL,
  sub_type text NOT NULL,
  occurred_at float8 NOT NULL,
  simulated smallint NOT NULL,
  routed_at float8 NOT NULL,
  removed_at bigint,
  trace text NOT NULL,
  published_by bytea,
  subject_id bytea
) PARTITION BY RANGE (created_at);
CREATE INDEX event_newest ON event (merchant, created_at, seq);
CREATE INDEX event_of_entity ON event (entity_id);
CREATE INDEX event_of_subject ON event (subject_id) WHERE subject_id IS NOT NULL;

-- With its event's head, so that lists join nothing and a delivery needs no row of its event. own_body: it has a body that
-- is not its event's. Half-empty pages: almost every delivery is updated once, in place.
CREATE TABLE delivery (
  seq bigint NOT NULL,
  created_at bigint NOT NULL,
  sequence bigint NOT NULL,
  delivery_id bytea NOT NULL,
  event_id bytea NOT NULL,
  entity_id bytea NOT NULL,
  occurred_at float8 NOT NULL,
  next_attempt_at float8,
  last_attempt_at float8,
  merchant int NOT NULL,
  endpoint int NOT NULL,
  type smallint NOT NULL,
  api_version smallint NOT NULL,
  trigger smallint NOT NULL,
  status smallint NOT NULL,
  cancel_reason smallint,
  attempts_made smallint NOT NULL,
  attempts_max smallint NOT NULL,
  last_response_status smallint,
  last_failure_code smallint,
  parked smallint,
  removed smallint NOT NULL,
  sub_type text NOT NULL,
  subject_id bytea
) PARTITION BY RANGE (created_at);
-- Those that routing made are found by their event's trace: 1 is their trigger.
CREATE INDEX delivery_requested_of_entity ON delivery (entity_id) WHERE trigger <> 1;
CREATE INDEX delivery_requested_of_subject ON delivery (subject_id) WHERE trigger <> 1 AND subject_id IS NOT NULL;
CREATE INDEX delivery_newest ON delivery (endpoint, created_at, seq);
CREATE INDEX delivery_newest_of_merchant ON delivery (merchant, created_at, seq);

CREATE TABLE attempt (
  attempt_id bigint NOT NULL,
  created_at bigint NOT NULL,
  started_at float8 NOT NULL,
  duration_ms float8 NOT NULL,
  next_attempt_at float8,
  response_status smallint,
  failure_code smallint,
  truncated smallint,
  failure_detail text,
  headers text,
  signature text NOT NULL
) PARTITION BY RANGE (created_at);

-- owner, kind, n: see log/bodies.ts. codec: 0 = as it is.
CREATE TABLE body (
  owner bigint NOT NULL,
  created_at bigint NOT NULL,
  kind smallint NOT NULL,
  n smallint NOT NULL,
  codec smallint NOT NULL,
  bytes bytea NOT NULL
) PARTITION BY RANGE (created_at);

-- The deliveries that are failed, exhausted, cancelled or refused now. An index of delivery that names the status would
-- keep its rows from being updated in place.
CREATE TABLE failing (
  merchant int NOT NULL,
  endpoint int NOT NULL,
  status smallint NOT NULL,
  created_at bigint NOT NULL,
  seq bigint NOT NULL,
  delivery_id bytea NOT NULL
) PARTITION BY RANGE (created_at);
CREATE INDEX failing_newest ON failing (endpoint, status, created_at, seq);
CREATE INDEX failing_newest_of_merchant ON failing (merchant, status, created_at, seq);

-- Events that an endpoint has missed; created_at: the event's. delivery_id: the event's own delivery, null while there is
-- none; delivery_at: its created_at.
CREATE TABLE missed (
  endpoint int NOT NULL,
  created_at bigint NOT NULL,
  event_id bytea NOT NULL,
  delivery_id bytea,
  delivery_at bigint
) PARTITION BY RANGE (created_at);
CREATE INDEX missed_oldest ON missed (endpoint, created_at, event_id);

-- Orders to erase bodies; entity_id: null = of every entity of the merchant; merchant: null = of any. Kept for as long as
-- events that were accepted before one may still be recorded.
CREATE TABLE erasure (
  erasure_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  entity_id text,
  merchant int,
  accepted_before bigint NOT NULL,
  done_at bigint
);

-- The attempts of one endpoint that began within an hour, which created_at begins, counted by five minutes, event type,
-- outcome, failure code and duration (services/store/log/tally).
CREATE TABLE tally (
  endpoint int NOT NULL,
  created_at bigint NOT NULL,
  cells bytea NOT NULL
) PARTITION BY RANGE (created_at);

-- What journal batches counted and the tallies lack: a row for each batch, merged in bulk (tally/tally-writes.ts). first_at and
-- last_at: when the first and the last of its hours began.
CREATE TABLE tally_delta (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  tallies bytea NOT NULL
);

-- A row for each thing that happened, numbered by merchant. The number is taken last of all within a transaction, under
-- the lock of the merchant's row: no earlier number can be committed later. created_at: when it happened. What it
-- reports, by kind (services/store/log/log-rows.ts): an event (event_id), a delivery (delivery_id), an attempt (ref, and its
-- delivery), at ref_at; or an audit entry (ref).
CREATE TABLE feed (
  merchant int NOT NULL,
  seq bigint NOT NULL,
  created_at bigint NOT NULL,
  kind smallint NOT NULL,
  detail smallint,
  event_id bytea,
  delivery_id bytea,
  ref bigint,
  ref_at bigint
) PARTITION BY RANGE (created_at);

-- Resends of missed events. One at a time of an endpoint, or of a merchant, or of all.
CREATE TABLE replay (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  replay_id text COLLATE "C" NOT NULL UNIQUE,
  merchant_id text,
  endpoint_id text,
  kind text NOT NULL,
  since bigint NOT NULL,
  until bigint NOT NULL,
  types text,
  count bigint NOT NULL,
  published bigint NOT NULL,
  left_out bigint NOT NULL,
  place text,
  status text NOT NULL,
  cancel_reason text,
  created_at bigint NOT NULL,
  finished_at bigint,
  event_ids text
);
CREATE UNIQUE INDEX replay_running ON replay (coalesce(endpoint_id, ''), coalesce(merchant_id, ''))
  WHERE status = 'running';
CREATE INDEX replay_newest ON replay (endpoint_id, seq);

-- An operator's replay goes from endpoint to endpoint of one merchant.
CREATE INDEX endpoint_of_merchant ON endpoint (merchant_id, seq) WHERE deleted_at IS NULL;

-- The log begins at log_from, its bodies at bodies_from: leaves that ended before were dropped, and are not made again.
INSERT INTO meta VALUES ('log_from', '0'), ('bodies_from', '0');
`;
