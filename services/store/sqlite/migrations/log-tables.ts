/**
 * The delivery log. Rows are appended (integer keys grow), so writing touches the right edge of each tree. What finds
 * rows by random ids, or lists them by merchant and endpoint, would need indexes whose every page is hot: those tables
 * (…_by_…) are filled in bulk, in key order (id-index.ts, list-index.ts), and meta has the rows up to which they are
 * complete. Codes are those of codes.ts. Ids are 16-byte blobs when they are UUIDs in lower case, else the text as it came.
 */
export const logTables = `
INSERT INTO meta VALUES
  ('event_indexed_to', 0), ('delivery_indexed_to', 0),
  ('feed_listed_to', 0), ('event_listed_to', 0), ('delivery_listed_to', 0),
  -- The last group of contents whose tallies are merged.
  ('attempts_tallied_to', 0),
  -- The positions of the walks by age that remove bodies.
  ('event_bodies_removed_to', 0), ('delivery_bodies_removed_to', 0);

CREATE TABLE journal_position (partition TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- feed_removed_to: the last number of its feed that retention deleted.
CREATE TABLE log_merchant (
  seq INTEGER PRIMARY KEY,
  merchant_id TEXT NOT NULL UNIQUE,
  feed_removed_to INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE log_endpoint (
  seq INTEGER PRIMARY KEY,
  endpoint_id TEXT NOT NULL UNIQUE,
  merchant INTEGER NOT NULL
) STRICT;
CREATE INDEX log_endpoint_of_merchant ON log_endpoint (merchant);

-- data, trace and routed_at are null until the event's routing is recorded. bodies: (code, length, bytes) per version,
-- of events that are in no group of contents. created_at: when the event came in; last_at: the newest of its deliveries,
-- which keeps it from being deleted. published_by: the id of the key, or 'kafka'; null where it is not known.
-- subject_id: what it is about; null = the entity. sequence: its place among the entity's events; 0: it has none.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  event_id ANY NOT NULL,
  merchant INTEGER NOT NULL,
  entity_id ANY NOT NULL,
  entity_kind INTEGER,
  type INTEGER NOT NULL,
  sub_type TEXT NOT NULL,
  occurred_at REAL NOT NULL,
  simulated INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  routed_at REAL,
  trace TEXT,
  data TEXT,
  bodies BLOB,
  bodies_removed_at INTEGER,
  published_by ANY,
  subject_id ANY,
  sequence INTEGER NOT NULL
) STRICT;
CREATE TABLE event_by_id (
  event_id ANY NOT NULL,
  merchant INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (event_id, merchant)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_by_merchant (
  merchant INTEGER NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL, type INTEGER NOT NULL,
  PRIMARY KEY (merchant, created_at, seq)
) STRICT, WITHOUT ROWID;

-- Finds events by what they are about and by their entity. key: the last five bytes or characters of that id, which is
-- compared in the event's row. Filled together with event_by_merchant.
CREATE TABLE event_about (
  key ANY NOT NULL, merchant INTEGER NOT NULL, event INTEGER NOT NULL,
  PRIMARY KEY (key, merchant, event)
) STRICT, WITHOUT ROWID;

-- The contents of events, in groups of events that were recorded together: packed together, they take a fraction of the
-- space. seq is the first event's; the format is that of log/contents.ts. An event whose routing was recorded after its
-- first attempt has its content in its row.
CREATE TABLE content (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;

-- parked: why it is parked; null = it is not.
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  delivery_id ANY NOT NULL,
  endpoint INTEGER NOT NULL,
  event INTEGER NOT NULL,
  type INTEGER NOT NULL,
  api_version INTEGER NOT NULL,
  trigger INTEGER NOT NULL,
  status INTEGER NOT NULL,
  cancel_reason INTEGER,
  attempts_made INTEGER NOT NULL,
  attempts_max INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  next_attempt_at REAL,
  last_attempt_at REAL,
  last_response_status INTEGER,
  last_failure_code INTEGER,
  parked INTEGER
) STRICT;
CREATE TABLE delivery_by_id (delivery_id ANY PRIMARY KEY NOT NULL, delivery INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- delivered: 1 = it was delivered when this row was written, which is final; 0 = not yet, then.
CREATE TABLE delivery_by_endpoint (
  endpoint INTEGER NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL, type INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  PRIMARY KEY (endpoint, created_at, seq)
) STRICT, WITHOUT ROWID;
-- The few that a merchant looks for among very many delivered ones: failed, exhausted, cancelled, refused. Not pending:
-- nearly every delivery is for a moment, and would go in and out.
CREATE INDEX delivery_failing ON delivery (endpoint, status, created_at) WHERE status > 2;

-- Filled together with delivery_by_endpoint.
CREATE TABLE delivery_by_event (
  event INTEGER NOT NULL, delivery INTEGER NOT NULL, PRIMARY KEY (event, delivery)
) STRICT, WITHOUT ROWID;

-- Only bodies that are not among the event's own.
CREATE TABLE delivery_body (delivery INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

-- attempt_id = delivery × 256 + number: appended, and one delivery's attempts lie together. content: the group of contents
-- in which the rest is.
CREATE TABLE attempt (
  attempt_id INTEGER PRIMARY KEY,
  started_at REAL NOT NULL,
  duration_ms REAL NOT NULL,
  response_status INTEGER,
  failure_code INTEGER,
  failure_detail TEXT,
  next_attempt_at REAL,
  content INTEGER NOT NULL
) STRICT;

-- The responses and signatures of attempts, in groups of attempts that were recorded together: headers are much alike. The
-- format is that of log/attempt-contents.ts. tallies: in the last group of a journal batch, what the batch counted
-- (log/tally-rows.ts); the tallies lack that of groups after attempts_tallied_to. first_at and last_at: when the first
-- and the last of its hours began.
CREATE TABLE attempt_content (
  seq INTEGER PRIMARY KEY,
  first_at INTEGER,
  last_at INTEGER,
  tallies BLOB,
  bytes BLOB NOT NULL
) STRICT;

-- A row for each event that was skipped for an endpoint while it was disabled, or whose delivery ended without success;
-- deleted when the endpoint has received the event after all. So there are few rows, and neither routing nor delivering
-- touches them while nothing fails. delivery: the event's own, null while there is none. created_at: the event's.
CREATE TABLE missed (
  endpoint INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  event INTEGER NOT NULL,
  delivery INTEGER,
  PRIMARY KEY (endpoint, created_at, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX missed_event ON missed (event);

-- The attempts of one endpoint that began within an hour, which created_at begins, counted by five minutes, event type,
-- outcome, failure code and duration (services/store/log/tally).
CREATE TABLE tally (
  endpoint INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  cells BLOB NOT NULL,
  PRIMARY KEY (endpoint, created_at)
) STRICT, WITHOUT ROWID;

-- A row for each thing that happened, in the order of recording. ref and detail by kind (feed/feed-writes.ts). The rows are
-- small and appended. The newest row is never deleted, so no number is given twice.
CREATE TABLE feed (
  seq INTEGER PRIMARY KEY,
  merchant INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  ref INTEGER NOT NULL,
  detail INTEGER,
  at INTEGER NOT NULL
) STRICT;
CREATE TABLE feed_by_merchant (
  merchant INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (merchant, seq)
) STRICT, WITHOUT ROWID;
`;
