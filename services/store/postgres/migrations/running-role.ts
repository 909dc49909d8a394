/**
 * The changes of tables that the running role needs, as functions that run with the rights of the migrating role, which
 * owns the tables (grants.ts). They take nothing that becomes part of a statement but names of a list and numbers.
 */
export const runningRole = `
-- Makes the leaf of a kind that begins at leaf_from, unless there is one. The roles that may use the table may use the leaf.
CREATE FUNCTION make_leaf(kind text, leaf_from bigint, leaf_to bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  leaf text := kind || '_' || to_char(to_timestamp(leaf_from / 1000) AT TIME ZONE 'UTC', 'YYYYMMDDHH24');
  -- The columns that make a row of a leaf unique.
  key text := CASE kind
    WHEN 'event' THEN 'event_id, merchant'
    WHEN 'delivery' THEN 'delivery_id'
    WHEN 'attempt' THEN 'attempt_id'
    WHEN 'body' THEN 'owner, kind, n'
    WHEN 'failing' THEN 'seq, status'
    WHEN 'missed' THEN 'endpoint, event_id'
    WHEN 'feed' THEN 'merchant, seq'
    WHEN 'tally' THEN 'endpoint, created_at'
  END;
  -- The rows of a delivery are updated in place.
  fill text := CASE kind WHEN 'delivery' THEN 'WITH (fillfactor = 50)' ELSE '' END;
  role record;
BEGIN
  IF key IS NULL THEN
    RAISE EXCEPTION '"%" is no table of the log', kind;
  END IF;
  IF to_regclass(leaf) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) %s', leaf, kind, fill);
  EXECUTE format('CREATE UNIQUE INDEX %I ON %I (%s)', leaf || '_key', leaf, key);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', kind, leaf, leaf_from, leaf_to);
  FOR role IN
    SELECT acl.grantee::regrole::text AS name, string_agg(acl.privilege_type, ', ') AS privileges
    FROM pg_class c, aclexplode(c.relacl) acl
    WHERE c.oid = kind::regclass AND acl.grantee <> c.relowner AND acl.grantee <> 0 GROUP BY acl.grantee
  LOOP
    EXECUTE format('GRANT %s ON %I TO %s', role.privileges, leaf, role.name);
  END LOOP;
END
$$;

-- Detaches the leaf of a kind, or, when it is detached, drops it. Returns whether it is still there. Not in one step: while a
-- leaf is detached others wait, and dropping a large one takes longer. Whoever waits behind it waits for lock_timeout at most.
CREATE FUNCTION drop_leaf(kind text, suffix text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '250ms' AS $$
DECLARE
  leaf text := kind || '_' || suffix;
  parent record;
BEGIN
  IF kind NOT IN ('event', 'delivery', 'attempt', 'body', 'failing', 'missed', 'feed', 'tally')
    OR suffix !~ '^[0-9]{10}$' THEN
    RAISE EXCEPTION '"%" is no leaf of the log', leaf;
  END IF;
  SELECT inhdetachpending AS pending INTO parent FROM pg_inherits
    WHERE inhrelid = to_regclass(leaf) AND inhparent = kind::regclass;
  IF FOUND THEN
    -- FINALIZE: someone began to detach it concurrently, and was cut off.
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I %s', kind, leaf, CASE WHEN parent.pending THEN 'FINALIZE' ELSE '' END);
    RETURN true;
  END IF;
  EXECUTE format('DROP TABLE IF EXISTS %I', leaf);
  RETURN false;
END
$$;

-- Leaves of bodies from which an erasure has removed rows, until they are written anew (erased-leaves.ts).
CREATE TABLE erased_leaf (suffix text PRIMARY KEY);

-- Functions that run with the rights of their owner see no objects but those of this schema, and only roles that were
-- granted them may call them.
DO $do$
DECLARE
  name regprocedure;
BEGIN
  FOREACH name IN ARRAY ARRAY['make_leaf(text, bigint, bigint)', 'drop_leaf(text, text)']::regprocedure[] LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', name, current_schema());
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
  END LOOP;
END
$do$
`;
