/**
 * Missed events, and the jobs that send them again. `missed` has a row for each event that was skipped for an endpoint
 * while it was disabled, or whose delivery ended without success; the row is deleted when the endpoint has received the
 * event after all. So there are few rows, and neither routing nor delivering touches them while nothing fails.
 * delivery: the event's own delivery, null while there is none. created_at: the event's.
 */
export const replays = `
CREATE TABLE missed (
  endpoint INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  event INTEGER NOT NULL,
  delivery INTEGER,
  PRIMARY KEY (endpoint, created_at, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX missed_event ON missed (event);

-- 2 and 3: skipped while disabled. 4 and 5: exhausted, cancelled. More than one attempt: the event's own delivery.
INSERT OR IGNORE INTO missed
  SELECT json_extract(line.value, '$[0]'), ev.created_at, ev.seq, NULL
  FROM event ev, json_each(ev.trace) line
  WHERE ev.trace IS NOT NULL AND json_extract(line.value, '$[1]') IN (2, 3);
INSERT OR IGNORE INTO missed
  SELECT d.endpoint, ev.created_at, ev.seq, d.seq
  FROM delivery d JOIN event ev ON ev.seq = d.event
  WHERE d.status IN (4, 5) AND d.attempts_max > 1;

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
  finished_at INTEGER
) STRICT;
CREATE INDEX replay_running ON replay (seq) WHERE status = 'running';
CREATE INDEX replay_newest ON replay (endpoint_id, seq);

-- An operator's replay goes from endpoint to endpoint of one merchant.
CREATE INDEX endpoint_of_merchant ON endpoint (merchant_id, seq) WHERE deleted_at IS NULL;
`;
