import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Statements } from '../../sql/statements.ts';
import type { PostgresAddress } from '../client/postgres-address.ts';
import { PostgresDatabase } from '../client/postgres-database.ts';

/** The tables of which the running role adds rows and changes none. */
const ONLY_ADDED = 'audit';
/** The tables that it only reads. */
const ONLY_READ = 'layout';

/** A right that the running role must not have, and the statement that takes it away. */
interface Excess {
  readonly what: string;
  readonly remedy: string;
}

/**
 * Grants a role that owns nothing what a running process needs, and takes away its rights to change or delete the audit.
 * Called by the migrating role, after each migration. Throws one line when the role has more rights than can be taken
 * from it.
 */
export async function grantRunning(database: PostgresDatabase, role: string): Promise<void> {
  await database.transaction(async (tx) => {
    const known = await tx.first('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    if (!known)
      throw new Error(`PostgreSQL has no role ${role}: CREATE ROLE ${quoted(role)} LOGIN PASSWORD '…'`);
    // Passed as a setting: a block takes no values.
    await tx.rows("SELECT set_config('hookrail.running_role', $1, true)", [role]);
    await tx.rows(GRANTS);
    const [excess] = await excessOf(tx, role);
    if (excess) throw new Error(`the role ${role} ${excess.what}: ${excess.remedy}`);
  });
}

/** Grants only what is missing, so that a migration without changes writes nothing. */
const GRANTS = `DO $do$
DECLARE
  role text := current_setting('hookrail.running_role');
  owner oid := (SELECT relowner FROM pg_class WHERE oid = 'layout'::regclass);
  found record;
BEGIN
  IF NOT has_schema_privilege(role, current_schema(), 'USAGE') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
  END IF;
  FOR found IN SELECT c.oid::regclass AS name, c.relkind, c.relname FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relowner = owner AND c.relkind IN ('r', 'p', 'S')
  LOOP
    IF found.relkind = 'S' THEN
      IF found.relname NOT LIKE '${ONLY_ADDED}\\_%' AND NOT has_sequence_privilege(role, found.name, 'UPDATE') THEN
        EXECUTE format('GRANT USAGE, SELECT, UPDATE ON SEQUENCE %s TO %I', found.name, role);
      END IF;
    ELSIF found.relname = '${ONLY_READ}' THEN
      EXECUTE format('GRANT SELECT ON %s TO %I', found.name, role);
      EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON %s FROM %I, PUBLIC', found.name, role);
    ELSIF found.relname = '${ONLY_ADDED}' THEN
      EXECUTE format('GRANT SELECT, INSERT ON %s TO %I', found.name, role);
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE, TRIGGER ON %s FROM %I, PUBLIC', found.name, role);
    ELSIF NOT (has_table_privilege(role, found.name, 'SELECT') AND has_table_privilege(role, found.name, 'INSERT')
      AND has_table_privilege(role, found.name, 'UPDATE') AND has_table_privilege(role, found.name, 'DELETE')) THEN
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', found.name, role);
    END IF;
  END LOOP;
  EXECUTE format('GRANT EXECUTE ON FUNCTION make_leaf(text, bigint, bigint), drop_leaf(text, text) TO %I', role);
END
$do$`;

interface Rights {
  readonly isOwner: boolean;
  readonly changesAudit: boolean;
  readonly makesTables: boolean;
  readonly schema: string;
  readonly owner: string;
}

/** Returns the rights of a role that a running process should not have. */
async function excessOf(statements: Statements, role: string): Promise<readonly Excess[]> {
  const rights = await statements.first<Rights>(
    `SELECT pg_has_role($1, c.relowner, 'MEMBER') AS "isOwner", current_schema() AS schema,
     pg_get_userbyid(c.relowner) AS owner, has_schema_privilege($1, current_schema(), 'CREATE') AS "makesTables",
     has_table_privilege($1, c.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') AS "changesAudit"
     FROM pg_class c WHERE c.oid = to_regclass('audit')`,
    [role],
  );
  if (!rights) return [];
  const { owner, schema } = rights;
  const from = quoted(role);
  const found: Excess[] = [];
  if (rights.isOwner)
    found.push({
      what: `has the rights of ${owner}, which owns the tables`,
      remedy: `REVOKE ${quoted(owner)} FROM ${from}, or give it no SUPERUSER`,
    });
  if (rights.changesAudit)
    found.push({
      what: 'may change the audit',
      remedy: `take the rights to UPDATE, DELETE and TRUNCATE it from the roles of which ${from} is a member`,
    });
  if (rights.makesTables)
    found.push({
      what: `may create objects in the schema ${schema}`,
      remedy: `REVOKE CREATE ON SCHEMA ${quoted(schema)} FROM PUBLIC, ${from}`,
    });
  return found;
}

/**
 * Logs a line when the role at this address may do more than a running process needs, such as change the audit: for a start
 * in production.
 */
export async function warnOfRights(address: PostgresAddress, clock: Clock, log: Logger): Promise<void> {
  const options = { address, clock, connectionsMax: 1, applicationName: 'hookrail rights check' };
  const database = new PostgresDatabase(options);
  try {
    const found = await database.read((statements) => excessOf(statements, address.user));
    if (found.length === 0) return;
    const rights = found.map(({ what }) => what).join(', ');
    log.warn(
      { event: 'store_role_has_rights', role: address.user, rights },
      `the role ${address.user} of HOOKRAIL_POSTGRES_URL ${rights}: give the service a role of its own ` +
        '(docs/deploy.md, "With PostgreSQL")',
    );
  } finally {
    await database.close();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
