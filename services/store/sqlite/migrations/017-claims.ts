/**
 * Claims of running requests are rows of `answer` without a response; one replay runs for a scope; one index has the URLs
 * of managed endpoints and of the legacy one.
 */
export const claims = `
CREATE TABLE answer_with_claims (
  scope TEXT PRIMARY KEY,
  token TEXT NOT NULL,
  request_hash TEXT,
  status INTEGER,
  sealed TEXT,
  outbox_id INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO answer_with_claims SELECT scope, '', request_hash, status, sealed, outbox_id, expires_at FROM answer;
DROP TABLE answer;
ALTER TABLE answer_with_claims RENAME TO answer;
CREATE INDEX answer_expiry ON answer (expires_at);
CREATE UNIQUE INDEX replay_running_of_scope ON replay (coalesce(endpoint_id, ''), coalesce(merchant_id, ''))
  WHERE status = 'running';
DROP INDEX endpoint_legacy;
CREATE INDEX endpoint_of_url ON endpoint (merchant_id, url) WHERE deleted_at IS NULL;
`;
