import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { uncompressSync } from 'lz4-napi';

/** Returns a text as it may be found in a file: plain, in UTF-16, in base64 at each alignment, in hex, in JSON escapes. */
function formsOf(text: string): readonly Buffer[] {
  const base64 = [0, 1, 2].map((skipped) => {
    const shifted = Buffer.concat([Buffer.alloc(skipped), Buffer.from(text)]).toString('base64');
    // Without the characters that depend on what is beside it.
    return shifted.slice(4, -4);
  });
  const escaped = [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const hex = Buffer.from(text).toString('hex');
  const texts = [text, ...base64, ...base64.map(urlSafe), hex, hex.toUpperCase(), escaped];
  return [...texts.map((form) => Buffer.from(form)), Buffer.from(text, 'utf16le')];
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/** The store's own packing: a size, then the data. What is not packed has a size of anything. */
const UNPACKED_BYTES_MAX = 16 * 1024 * 1024;

function unpackLz4(bytes: Buffer): Buffer {
  if (bytes.length < 4 || bytes.readUInt32LE(0) > UNPACKED_BYTES_MAX) throw new Error('it is not packed');
  return uncompressSync(bytes);
}

const UNPACKERS = [unpackLz4, gunzipSync, inflateSync, brotliDecompressSync, zstdDecompressSync];

/** Returns a value as it is, and what it is when it is unpacked with each means that can. */
function unpacked(value: Uint8Array): readonly Buffer[] {
  const found = [Buffer.from(value)];
  for (const unpack of UNPACKERS) {
    try {
      found.push(Buffer.from(unpack(Buffer.from(value))));
    } catch {
      // Packed with another one, or not at all.
    }
  }
  return found;
}

/** Returns where one of the texts is below a folder: files, and values of databases, packed or not. */
export function remnantsOf(folder: string, ...texts: readonly string[]): string[] {
  const forms = texts.flatMap(formsOf);
  const has = (bytes: Buffer) => forms.some((form) => bytes.includes(form));
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  const raw = files.filter((name) => unpacked(readFileSync(join(folder, name))).some(has));
  const databases = files.filter((name) => name.endsWith('.db'));
  const inRows = databases.flatMap((name) =>
    valuesWith(join(folder, name), has).map((at) => `${name}: ${at}`),
  );
  return [...raw, ...inRows];
}

/** Returns the tables of a database that have a value with something in it. */
function valuesWith(file: string, has: (bytes: Buffer) => boolean): string[] {
  const db = new Database(file, { readonly: true });
  try {
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .pluck()
      .all() as string[];
    return tables.filter((table) => {
      for (const row of db.prepare(`SELECT * FROM "${table}"`).raw().iterate() as IterableIterator<unknown[]>)
        if (row.some((value) => isWith(value, has))) return true;
      return false;
    });
  } finally {
    db.close();
  }
}

function isWith(value: unknown, has: (bytes: Buffer) => boolean): boolean {
  if (value instanceof Uint8Array) return unpacked(value).some(has);
  return typeof value === 'string' && has(Buffer.from(value));
}
