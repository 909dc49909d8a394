import type { DirectoryChange } from '../directory.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Merchant } from '../merchant.ts';

/**
 * The bytes of a directory record that its seal is made of: everything that decides what is sent where. Each value has a
 * tag and, where it is not of one length, its length, so that no two records have the same bytes. A change of the fields
 * or of their order needs another heading; a field that is added goes to laterValues.
 */
const HEADING = 'hookrail directory record 2';

const TAG = { none: 0, text: 1, whole: 2, list: 3, no: 4, yes: 5 } as const;

const LENGTH_BYTES = 4;
const WHOLE_BYTES = 8;

type Value = string | number | boolean | null | readonly string[];

/** Grows with the longest record. Each record's bytes are used before the next one's are made. */
let scratch = Buffer.alloc(4096);

/**
 * Returns bytes that the next call changes. Throws TypeError when a value has not the type that the record's kind gives it:
 * it was not made here.
 */
export function canonicalRecord(change: DirectoryChange): Uint8Array {
  const { kind, id, version } = change;
  let end = 0;
  for (const value of [HEADING, text(kind), text(id), whole(version)]) end = put(value, end);
  for (const value of valuesOf(change)) end = put(value, end);
  return scratch.subarray(0, end);
}

function valuesOf(change: DirectoryChange): Value[] {
  if (change.value === null) return [null];
  return change.kind === 'merchant' ? merchantValues(change.value) : endpointValues(change.value);
}

function merchantValues(merchant: Merchant): Value[] {
  const { merchantId, name, state, senderAccountDetails, version } = merchant;
  return [text(merchantId), text(name), text(state), logical(senderAccountDetails), whole(version)];
}

function endpointValues(endpoint: Endpoint): Value[] {
  const { uuid, merchantId, url, subscribedEvents, status, apiVersion, secret, prepared, legacy, version } =
    endpoint;
  const { publicKeySignature } = endpoint;
  return [
    ...[text(uuid), text(merchantId), text(url)],
    subscribedEvents === null ? null : texts(subscribedEvents),
    ...[text(status), text(apiVersion), text(secret.keyId), text(secret.ciphertext)],
    prepared === undefined ? null : texts([prepared.keyId, prepared.ciphertext]),
    ...[logical(publicKeySignature), logical(legacy), whole(version)],
    ...laterValues(endpoint),
  ];
}

/**
 * Returns the fields that were added to endpoints after the heading was chosen: those that were added together in a row,
 * as far as the last row that the record has any of. So the seals of records without them stay as they were.
 */
function laterValues({ headers, requestsPerSecond, notices }: Endpoint): Value[] {
  const rows = [
    [
      headers === undefined
        ? null
        : texts([headers.sealed.keyId, headers.sealed.ciphertext, ...headers.names]),
      requestsPerSecond === undefined ? null : whole(requestsPerSecond),
    ],
    [notices === undefined ? null : text(notices)],
  ];
  return rows.slice(0, rows.findLastIndex((row) => row.some((value) => value !== null)) + 1).flat();
}

/** Returns the position after the value. */
function put(value: Value, at: number): number {
  if (value === null) return byte(TAG.none, at);
  if (typeof value === 'boolean') return byte(value ? TAG.yes : TAG.no, at);
  if (typeof value === 'number') {
    const next = byte(TAG.whole, at);
    return scratch.writeBigInt64BE(BigInt(value), next);
  }
  if (typeof value !== 'string')
    return value.reduce((next, each) => put(each, next), counted(TAG.list, value.length, at));
  // A character has at most three bytes in UTF-8 for each of its units.
  room(at + LENGTH_BYTES + 1 + 3 * value.length);
  const written = scratch.write(value, at + LENGTH_BYTES + 1, 'utf8');
  return counted(TAG.text, written, at) + written;
}

function counted(tag: number, count: number, at: number): number {
  return scratch.writeUInt32BE(count, byte(tag, at));
}

/** Leaves room for what follows a tag. */
function byte(tag: number, at: number): number {
  room(at + 1 + WHOLE_BYTES);
  return scratch.writeUInt8(tag, at);
}

function room(bytes: number): void {
  if (bytes <= scratch.length) return;
  const larger = Buffer.alloc(2 * bytes);
  scratch.copy(larger);
  scratch = larger;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text of the record is no text');
  return value;
}

function texts(values: unknown): readonly string[] {
  if (!Array.isArray(values)) throw new TypeError('a list of the record is no list');
  return values.map(text);
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('a number of the record is no whole number');
  return value as number;
}

function logical(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new TypeError('a field of the record is neither true nor false');
  return value;
}
