/**
 * The lists by merchant and by endpoint, as tables that are filled in bulk (log/list-index.ts) in place of indexes, of
 * which every row dirtied a page of its merchant and of its endpoint. …_listed_to in meta is the row up to which each
 * is complete.
 */
export const listIndexes = `
CREATE TABLE feed_by_merchant (
  merchant INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (merchant, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_by_merchant (
  merchant INTEGER NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (merchant, created_at, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE delivery_by_endpoint (
  endpoint INTEGER NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (endpoint, created_at, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO feed_by_merchant SELECT merchant, seq FROM feed ORDER BY merchant, seq;
INSERT INTO event_by_merchant SELECT merchant, created_at, seq FROM event ORDER BY merchant, created_at, seq;
INSERT INTO delivery_by_endpoint SELECT endpoint, created_at, seq FROM delivery ORDER BY endpoint, created_at, seq;
INSERT INTO meta SELECT 'feed_listed_to', coalesce(max(seq), 0) FROM feed;
INSERT INTO meta SELECT 'event_listed_to', coalesce(max(seq), 0) FROM event;
INSERT INTO meta SELECT 'delivery_listed_to', coalesce(max(seq), 0) FROM delivery;

DROP INDEX feed_of_merchant;
DROP INDEX event_newest;
DROP INDEX delivery_newest;
`;
