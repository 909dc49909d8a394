/**
 * The tables that the API manages. Times are whole milliseconds since the epoch. A deleted endpoint keeps its row
 * without its secret: the version of its key keeps growing and its uuid is never given to another.
 */
export const managementTables = `
-- purge_due: 1 while unused parts of the file may have what was deleted.
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('purge_due', 0);

-- seal_…: a MAC of the key ring over all that decides what is sent where.
CREATE TABLE merchant (
  seq INTEGER PRIMARY KEY,
  merchant_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  sender_account_details INTEGER NOT NULL,
  version INTEGER NOT NULL,
  seal_key_id TEXT,
  seal_version INTEGER,
  seal_mac TEXT
) STRICT;

-- types, merchants: what a producer's key may publish, JSON; null = all. scopes: what a platform's key may do, JSON.
CREATE TABLE api_key (
  seq INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  merchant_id TEXT,
  hash BLOB NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  name TEXT,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  last_used_at INTEGER,
  types TEXT,
  merchants TEXT,
  scopes TEXT
) STRICT;

-- The hashes are SHA-256 of the link's token and the cookie's. ends_at: of the link until it is opened, then of the session.
CREATE TABLE portal_session (
  seq INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE,
  merchant_id TEXT NOT NULL,
  link_hash BLOB NOT NULL UNIQUE,
  token_hash BLOB UNIQUE,
  access TEXT NOT NULL,
  person TEXT,
  refresh_url TEXT,
  life_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  link_expires_at INTEGER NOT NULL,
  opened_at INTEGER,
  ends_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX portal_session_of_merchant ON portal_session (merchant_id, seq);
CREATE INDEX portal_session_end ON portal_session (ends_at);

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
  public_key_signature INTEGER NOT NULL DEFAULT 0,
  -- The form of its operational notices; null = it gets events.
  notices TEXT,
  prepared_key_id TEXT,
  prepared_ciphertext TEXT,
  prepared_hint TEXT,
  prepared_at INTEGER,
  newest_check TEXT,
  header_names TEXT,
  headers_key_id TEXT,
  headers_ciphertext TEXT,
  headers_set_at INTEGER,
  requests_per_second INTEGER,
  legacy INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  activated_at INTEGER NOT NULL,
  disabled_at INTEGER,
  disabled_reason TEXT,
  deleted_at INTEGER,
  seal_key_id TEXT,
  seal_version INTEGER,
  seal_mac TEXT
) STRICT;
-- One URL of a merchant never has two secrets.
CREATE UNIQUE INDEX endpoint_url ON endpoint (merchant_id, url) WHERE deleted_at IS NULL;
CREATE INDEX endpoint_newest ON endpoint (merchant_id, created_at, uuid) WHERE deleted_at IS NULL AND legacy = 0;
CREATE INDEX endpoint_of_status ON endpoint (merchant_id, status, created_at, uuid)
  WHERE deleted_at IS NULL AND legacy = 0;
-- An operator's replay goes from endpoint to endpoint of one merchant.
CREATE INDEX endpoint_of_merchant ON endpoint (merchant_id, seq) WHERE deleted_at IS NULL;

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

-- A claim of a running request has a token and no response yet.
CREATE TABLE answer (
  scope TEXT PRIMARY KEY,
  token TEXT NOT NULL,
  request_hash TEXT,
  status INTEGER,
  sealed TEXT,
  outbox_id INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_expiry ON answer (expires_at);

-- A change is published when its row is gone. AUTOINCREMENT: an id that was published and deleted is never given again.
CREATE TABLE outbox (outbox_id INTEGER PRIMARY KEY AUTOINCREMENT, change TEXT NOT NULL) STRICT;

-- person: the operator's name.
CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  merchant_id TEXT,
  endpoint_uuid TEXT,
  action TEXT NOT NULL,
  details TEXT NOT NULL,
  person TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX audit_newest ON audit (at);
CREATE INDEX audit_merchant ON audit (merchant_id, at);
CREATE INDEX audit_endpoint ON audit (endpoint_uuid, at);
CREATE INDEX audit_request ON audit (request_id) WHERE request_id IS NOT NULL;

-- Resends of missed events. One at a time of an endpoint, or of a merchant, or of all.
CREATE TABLE replay (
  seq INTEGER PRIMARY KEY,
  replay_id TEXT NOT NULL UNIQUE,
  merchant_id TEXT,
  endpoint_id TEXT,
  kind TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  types TEXT,
  count INTEGER NOT NULL,
  published INTEGER NOT NULL,
  left_out INTEGER NOT NULL,
  place TEXT,
  status TEXT NOT NULL,
  cancel_reason TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  event_ids TEXT
) STRICT;
CREATE INDEX replay_running ON replay (seq) WHERE status = 'running';
CREATE UNIQUE INDEX replay_running_of_scope ON replay (coalesce(endpoint_id, ''), coalesce(merchant_id, ''))
  WHERE status = 'running';
CREATE INDEX replay_newest ON replay (endpoint_id, seq);

-- Orders to erase bodies; entity_id: null = of every entity of the merchant; merchant: null = of any. Kept for as long as events that were accepted before one
-- may still be recorded.
CREATE TABLE erasure (
  erasure_id INTEGER PRIMARY KEY,
  entity_id TEXT,
  merchant INTEGER,
  accepted_before INTEGER NOT NULL,
  done_at INTEGER
) STRICT;

-- The copies of the store that were made, so that an erasure can name those that still have what it removes.
CREATE TABLE backup (backup_id INTEGER PRIMARY KEY, file TEXT NOT NULL, taken_at INTEGER NOT NULL) STRICT;

-- Operational notices: one row for one cause, for ever. taken_at: nothing is added to it any more; it is being sent.
CREATE TABLE notice (
  seq INTEGER PRIMARY KEY,
  cause TEXT NOT NULL UNIQUE,
  notice_id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  sub_type TEXT NOT NULL,
  merchant_id TEXT,
  endpoint_uuid TEXT,
  at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  data TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  taken_at INTEGER,
  sent_at INTEGER
) STRICT;
CREATE INDEX notice_due ON notice (due_at) WHERE sent_at IS NULL;
CREATE INDEX notice_endpoint ON notice (endpoint_uuid, seq);
CREATE INDEX endpoint_notices ON endpoint (merchant_id) WHERE notices IS NOT NULL;

-- How far what lies outside the store was looked through for causes of notices.
CREATE TABLE notice_place (name TEXT PRIMARY KEY, place TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;
