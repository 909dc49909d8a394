/**
 * The delivery log. Rows are appended (integer keys grow), so writing touches the right edge of each tree.
 * Finding a row by its random id needs an index whose every page is hot; those two (…_by_id) are filled in
 * bulk, in key order, by id-index.ts, and meta has the rows up to which they are complete. Codes are those of codes.ts.
 * Ids are 16-byte blobs when they are UUIDs in lower case, else the text as it came.
 */
export const deliveryLog = `
INSERT INTO meta VALUES ('event_indexed_to', 0), ('delivery_indexed_to', 0);

CREATE TABLE journal_position (partition TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE log_merchant (seq INTEGER PRIMARY KEY, merchant_id TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE log_endpoint (
  seq INTEGER PRIMARY KEY,
  endpoint_id TEXT NOT NULL UNIQUE,
  merchant INTEGER NOT NULL
) STRICT;

-- data, trace and routed_at are null until the event's routing is recorded. bodies: (code, length, bytes) per
-- version.
-- created_at: when the event came in; last_at: the newest of its deliveries, which keeps it from being
-- deleted.
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
  bodies BLOB
) STRICT;
CREATE TABLE event_by_id (
  event_id ANY NOT NULL,
  merchant INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (event_id, merchant)
) STRICT, WITHOUT ROWID;

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
  last_failure_code INTEGER
) STRICT;
CREATE TABLE delivery_by_id (delivery_id ANY PRIMARY KEY NOT NULL, delivery INTEGER NOT NULL) STRICT, WITHOUT
  ROWID;
CREATE INDEX delivery_newest ON delivery (endpoint, created_at);
-- What a merchant looks for among very many delivered ones: failed, exhausted, cancelled. Not pending: nearly
-- every
-- delivery is for a moment, and would go in and out.
CREATE INDEX delivery_failing ON delivery (endpoint, status, created_at) WHERE status > 2;

-- Only bodies that are not among the event's own.
CREATE TABLE delivery_body (delivery INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

-- attempt_id = delivery × 256 + number: appended, and one delivery's attempts lie together.
CREATE TABLE attempt (
  attempt_id INTEGER PRIMARY KEY,
  started_at REAL NOT NULL,
  duration_ms REAL NOT NULL,
  response_status INTEGER,
  response_headers TEXT,
  response_body BLOB,
  response_truncated INTEGER,
  failure_code INTEGER,
  failure_detail TEXT,
  next_attempt_at REAL,
  signature TEXT NOT NULL
) STRICT;
`;
