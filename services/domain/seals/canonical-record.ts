import type { DirectoryChange } from '../directory.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Merchant } from '../merchant.ts';

/**
 * The bytes of a directory record that its seal is made of: everything that decides what is sent where. Each value has a
 * tag and, where it is not of one length, its length, so that no two records have the same bytes. A change of the fields
 * or of their order needs another heading.
 */
const HEADING = 'hookrail directory record 1';

const TAG = { none: 0, text: 1, whole: 2, list: 3, no: 4, yes: 5 } as const;

type Value = string | number | boolean | null | readonly string[];

/** Throws TypeError or RangeError when a value has not the type that the record's kind gives it: it was not made here. */
export function canonicalRecord(change: DirectoryChange): Buffer {
  const { kind, id, version } = change;
  const head = [HEADING, text(kind), text(id), whole(version)];
  return Buffer.concat([...head, ...valuesOf(change)].map(encoded));
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
  const { uuid, merchantId, url, subscribedEvents, status, apiVersion, secret, legacy, version } = endpoint;
  return [
    ...[text(uuid), text(merchantId), text(url)],
    subscribedEvents === null ? null : texts(subscribedEvents),
    ...[text(status), text(apiVersion), text(secret.keyId), text(secret.ciphertext)],
    ...[logical(legacy), whole(version)],
  ];
}

function encoded(value: Value): Buffer {
  if (value === null) return Buffer.of(TAG.none);
  if (typeof value === 'boolean') return Buffer.of(value ? TAG.yes : TAG.no);
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'utf8');
    return Buffer.concat([counted(TAG.text, bytes.length), bytes]);
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9, TAG.whole);
    bytes.writeBigInt64BE(BigInt(value), 1);
    return bytes;
  }
  return Buffer.concat([counted(TAG.list, value.length), ...value.map(encoded)]);
}

function counted(tag: number, count: number): Buffer {
  const bytes = Buffer.alloc(5, tag);
  bytes.writeUInt32BE(count, 1);
  return bytes;
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
