/**
 * The feed: a row for each thing that happened, in the order of recording. `ref` and `detail` by kind
 * (feed/feed-writes.ts). The rows are small and appended. The newest row is never deleted, so no number is given twice;
 * feed_removed_to is the merchant's last number that retention deleted.
 */
export const feed = `
CREATE TABLE feed (
  seq INTEGER PRIMARY KEY,
  merchant INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  ref INTEGER NOT NULL,
  detail INTEGER,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX feed_of_merchant ON feed (merchant);
ALTER TABLE log_merchant ADD COLUMN feed_removed_to INTEGER NOT NULL DEFAULT 0;
`;
