/**
 * The contents of events, in groups of events that were recorded together: packed together, they take a fraction of the
 * space. seq is the first event's; the format is that of log/contents.ts. Events recorded earlier, and those whose
 * routing was recorded after their first attempt, have theirs in their rows.
 */
export const contents = `
CREATE TABLE content (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
`;
