import type { IHeaders } from 'kafkajs';

const REQUEUED = 'hookrail-requeued';
const SEQUENCE = 'hookrail-sequence';

/** Returns the header of an event that is put back from quarantine: the key of the quarantined record. */
export function requeuedHeader(quarantineKey: Buffer | null): Record<string, string> {
  return quarantineKey === null ? {} : { [REQUEUED]: quarantineKey.toString('latin1') };
}

/** Returns the quarantined record that an event was put back from; undefined when a producer wrote the event. */
export function requeuedAs(headers: IHeaders): string | undefined {
  return textOf(headers, REQUEUED);
}

/** Returns the header with which an event goes to quarantine, so that it keeps its place when it is put back. */
export function sequenceHeader(sequence: number): Record<string, Buffer> {
  return { [SEQUENCE]: Buffer.from(`${sequence}`) };
}

/**
 * Returns the sequence that an event had before it was put back, or else its record's own. A later one is not believed:
 * no event is put back before it came.
 */
export function keptSequence(headers: IHeaders, own: number): number {
  const kept =
    requeuedAs(headers) === undefined ? Number.NaN : Number(textOf(headers, SEQUENCE) || Number.NaN);
  return Number.isSafeInteger(kept) && kept > 0 && kept < own ? kept : own;
}

function textOf(headers: IHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.at(-1) : value)?.toString('latin1');
}

/** Returns the headers of an event that is published as a new one. */
export function withoutRequeued<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  const { [REQUEUED]: _, [SEQUENCE]: __, ...others } = headers;
  return others;
}
