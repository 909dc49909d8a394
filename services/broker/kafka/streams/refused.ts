import type { IHeaders } from 'kafkajs';
import { isRefusal, type Refusal } from '../../../domain/quarantine.ts';

const REFUSED = 'hookrail-refused';

/** Returns the header of an event whose producer was told that it will not be routed. */
export function refusedHeader(refusal: Refusal): Record<string, string> {
  return { [REFUSED]: refusal };
}

export function refusalIn(headers: IHeaders): Refusal | undefined {
  const value = headers[REFUSED];
  const text = (Array.isArray(value) ? value.at(-1) : value)?.toString('latin1');
  return isRefusal(text) ? text : undefined;
}
