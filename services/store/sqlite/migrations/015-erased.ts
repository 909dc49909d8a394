/**
 * purge_due: 1 while unused parts of the file may have what was deleted, as those of a file that an earlier build has written
 * do. backup: the copies of the store that were made, so that an erasure can name those that still have what it removes.
 */
export const erased = `
INSERT INTO meta VALUES ('purge_due', 1);
CREATE TABLE backup (backup_id INTEGER PRIMARY KEY, file TEXT NOT NULL, taken_at INTEGER NOT NULL) STRICT;
`;
