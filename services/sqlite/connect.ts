import Database from 'better-sqlite3';

/** The version of Node-API that the compiled SQLite is made for: Node 22.14 and newer have it. */
const NODE_API_MIN = 10;

/** Opens a connection. Throws on a Node that the compiled SQLite would end with a segmentation fault. */
export function connect(file: string, options: Database.Options): Database.Database {
  const { napi, node } = process.versions;
  if (Number(napi) < NODE_API_MIN) {
    throw new Error(
      `SQLite needs Node 22.14 or newer, but this is ${node} (${process.execPath}): start with \`hookrail\`, which goes on with a Node of its own, or install Node 24`,
    );
  }
  return new Database(file, options);
}
