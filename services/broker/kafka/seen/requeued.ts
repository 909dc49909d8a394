import type { IHeaders } from 'kafkajs';

const REQUEUED = 'hookrail-requeued';

/** Returns the header of an event that is put back from quarantine: the key of the quarantined record. */
export function requeuedHeader(quarantineKey: Buffer | null): Record<string, string> {
  return quarantineKey === null ? {} : { [REQUEUED]: quarantineKey.toString('latin1') };
}

/** Returns the quarantined record that an event was put back from; undefined when a producer wrote the event. */
export function requeuedAs(headers: IHeaders): string | undefined {
  const value = headers[REQUEUED];
  return (Array.isArray(value) ? value.at(-1) : value)?.toString('latin1');
}

/** Returns the headers of an event that is published as a new one. */
export function withoutRequeued<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  const { [REQUEUED]: _, ...others } = headers;
  return others;
}
