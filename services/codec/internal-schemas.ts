import { readFileSync } from 'node:fs';
import type { Schema } from 'avsc';

/** Beside `services`, both in the checkout and in the output of `npm run build`. */
const SCHEMAS = new URL('../../schemas/internal/', import.meta.url);

/** Returns the Avro schema of a file in schemas/internal. */
export function internalSchema(file: string): Schema {
  return JSON.parse(readFileSync(new URL(file, SCHEMAS), 'utf8'));
}
