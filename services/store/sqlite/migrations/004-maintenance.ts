/**
 * Maintenance. Names of keys; indexes to read the audit newest first, whole, of a merchant, of an endpoint. Bodies are
 * removed before their rows: bodies_removed_at has the time, and meta the position of the walk by age.
 *
 * Events have no index of their entity: random keys would slow every event, and an erasure is rare enough to read all
 * rows.
 */
export const maintenance = `
ALTER TABLE api_key ADD COLUMN name TEXT;

CREATE INDEX audit_newest ON audit (at);
CREATE INDEX audit_merchant ON audit (merchant_id, at);
CREATE INDEX audit_endpoint ON audit (endpoint_uuid, at);

ALTER TABLE event ADD COLUMN bodies_removed_at INTEGER;
INSERT INTO meta VALUES ('event_bodies_removed_to', 0), ('delivery_bodies_removed_to', 0);

-- merchant: null = any. Kept for as long as events that were accepted before it may still be recorded.
CREATE TABLE erasure (
  erasure_id INTEGER PRIMARY KEY,
  entity_id ANY NOT NULL,
  merchant INTEGER,
  accepted_before INTEGER NOT NULL,
  done_at INTEGER
) STRICT;
`;
