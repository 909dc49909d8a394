import { typesOf } from '../../domain/catalog/catalog.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import { ApiError } from '../problem.ts';

interface Warning {
  readonly code: string;
  readonly detail: string;
}

/**
 * Returns warnings about types of the filter that the endpoint's version does not have. Refuses a filter that names no
 * others: the endpoint would never receive anything.
 */
export function filterWarnings({
  subscribedEvents,
  apiVersion,
}: Pick<Endpoint, 'subscribedEvents' | 'apiVersion'>): readonly Warning[] {
  const has = typesOf(apiVersion);
  const missing = (subscribedEvents ?? []).filter((type) => !has.includes(type));
  if (missing.length === 0) return [];
  const detail = `Version ${apiVersion} does not have ${missing.join(', ')}`;
  if (missing.length === subscribedEvents?.length) {
    const remedy = `it has ${has.join(', ')}. Subscribe to one of these, or use api_version 2.3.8.`;
    throw new ApiError('type_not_in_api_version', `${detail}; ${remedy}`);
  }
  return [{ code: 'type_not_in_api_version', detail: `${detail}: they are not sent to this endpoint.` }];
}
