import { typesOf } from '../../domain/catalog/catalog.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import { isNoticeType, typesFor, type WebhookType } from '../../domain/notices/notice.ts';
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
  notices,
}: Pick<Endpoint, 'subscribedEvents' | 'apiVersion' | 'notices'>): readonly Warning[] {
  requireKind(subscribedEvents ?? [], notices !== undefined);
  // Notices are the same in every version.
  if (notices !== undefined) return [];
  const has = typesOf(apiVersion);
  const missing = (subscribedEvents ?? []).filter((type) => !isNoticeType(type) && !has.includes(type));
  if (missing.length === 0) return [];
  const detail = `Version ${apiVersion} does not have ${missing.join(', ')}`;
  if (missing.length === subscribedEvents?.length) {
    const remedy = `it has ${has.join(', ')}. Subscribe to one of these, or use api_version 2.3.8.`;
    throw new ApiError('type_not_in_api_version', `${detail}; ${remedy}`);
  }
  return [{ code: 'type_not_in_api_version', detail: `${detail}: they are not sent to this endpoint.` }];
}

/** Refuses types that an endpoint of this kind never gets. */
export function requireKind(types: readonly WebhookType[], isOperational: boolean): void {
  const allowed = typesFor(isOperational);
  const others = types.filter((type) => !allowed.includes(type));
  if (others.length === 0) return;
  const kind = isOperational ? 'operational' : 'events';
  throw new ApiError(
    'type_not_of_kind',
    `The endpoint is of kind ${kind} and does not get ${others.join(', ')}; its types are ${allowed.join(', ')}.`,
  );
}
