/**
 * The tables that the API manages. Times are whole milliseconds since the epoch. A deleted endpoint keeps its row
 * without its secret: the version of its key keeps growing and its uuid is never given to another.
 */
export const management = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('published_up_to', 0);

CREATE TABLE merchant (
  seq INTEGER PRIMARY KEY,
  merchant_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  sender_account_details INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  seq INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  merchant_id TEXT,
  hash BLOB NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE TABLE endpoint (
  seq INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  merchant_id TEXT NOT NULL,
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  subscribed_events TEXT,
  status TEXT NOT NULL,
  api_version TEXT NOT NULL,
  secret_key_id TEXT NOT NULL,
  secret_ciphertext TEXT NOT NULL,
  secret_hint TEXT NOT NULL,
  secret_rotated_at INTEGER,
  legacy INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  activated_at INTEGER NOT NULL,
  disabled_at INTEGER,
  disabled_reason TEXT,
  deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX endpoint_url ON endpoint (merchant_id, url) WHERE deleted_at IS NULL AND legacy = 0;
CREATE INDEX endpoint_newest ON endpoint (merchant_id, created_at, uuid) WHERE deleted_at IS NULL AND legacy
  = 0;

-- Apart from the endpoint, and narrow: every journal batch changes it.
CREATE TABLE endpoint_health (
  endpoint INTEGER PRIMARY KEY,
  failure_count INTEGER NOT NULL,
  exhausted_count INTEGER NOT NULL,
  last_success_at REAL,
  last_failure_at REAL,
  last_failure_code TEXT,
  last_failure_status INTEGER
) STRICT;

CREATE TABLE answer (
  scope TEXT PRIMARY KEY,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  sealed TEXT NOT NULL,
  outbox_id INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_expiry ON answer (expires_at);

-- AUTOINCREMENT: an id that was published and deleted is never given again.
CREATE TABLE outbox (outbox_id INTEGER PRIMARY KEY AUTOINCREMENT, change TEXT NOT NULL) STRICT;

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  merchant_id TEXT,
  endpoint_uuid TEXT,
  action TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;
`;
