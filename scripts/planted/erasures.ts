import type { PlantedBug } from './planted-bug.ts';

const ERASED = 'test/guarantees/erased.test.ts';
const ROLES = 'test/store/postgres/roles.test.ts';
const RUNNING = 'no file has it while the service runs';

/** What was erased and is still there, and rights that the running role of PostgreSQL should not have. */
export const ERASURE_BUGS: readonly PlantedBug[] = [
  {
    id: 'erased-bytes-in-pages',
    bug: 'removed rows stay in unused parts of pages',
    file: 'services/sqlite/purge.ts',
    text: "if (isSmall) db.exec('VACUUM');",
    replacement: '',
    test: ERASED,
    title: RUNNING,
  },
  {
    id: 'erased-bytes-in-log',
    bug: 'the write-ahead log keeps pages of before an erasure',
    file: 'services/sqlite/purge.ts',
    text: 'wal_checkpoint(TRUNCATE)',
    replacement: 'wal_checkpoint(PASSIVE)',
    test: ERASED,
    title: RUNNING,
  },
  {
    id: 'restore-forgets-erasures',
    bug: 'a restored store has again what was erased after the backup',
    file: 'services/store/sqlite/maintenance/carry-over.ts',
    text: '...(readManifest(resolve(from))?.erasedSince ?? []), ',
    replacement: '',
    test: ERASED,
    title: 'a restore erases again what was erased since',
  },
  {
    id: 'postgres-running-role-changes-audit',
    bug: 'the running role may change the audit',
    file: 'services/store/postgres/migrations/grants.ts',
    text: "EXECUTE format('GRANT SELECT, INSERT ON %s TO %I', found.name, role);\n      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE, TRIGGER ON %s FROM %I, PUBLIC', found.name, role);",
    replacement: "EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %s TO %I', found.name, role);",
    test: ROLES,
    title: 'adds to the audit, and cannot change',
  },
  {
    id: 'postgres-leaf-function-of-caller',
    bug: 'objects of the caller take the place of the store’s in a function with the owner’s rights',
    file: 'services/store/postgres/migrations/003-running-role.ts',
    text: 'SET search_path = %I, pg_temp',
    replacement: 'SET search_path = pg_temp, %I',
    test: ROLES,
    title: 'makes and drops leaves of the log only',
  },
];
