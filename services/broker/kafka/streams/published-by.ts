import type { IHeaders } from 'kafkajs';
import { PUBLISHED_ON_KAFKA } from '../../../domain/event.ts';
import { isUuid } from '../../../domain/ids.ts';

const PUBLISHED_BY = 'hookrail-published-by';

/** Returns the header that names the API key which published an event. */
export function publishedByHeader(keyId: string): Record<string, string> {
  return { [PUBLISHED_BY]: keyId };
}

/** Returns the id of the key that the API named, or the word for a record without one. */
export function publishedByIn(headers: IHeaders): string {
  const value = headers[PUBLISHED_BY];
  const text = (Array.isArray(value) ? value.at(-1) : value)?.toString('latin1') ?? '';
  return isUuid(text) ? text : PUBLISHED_ON_KAFKA;
}
