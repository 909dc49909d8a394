import type { DomainEvent } from '../../domain/event.ts';
import type { PublishRights } from '../../store/store.ts';
import { ApiError, type FieldError } from '../problem.ts';

const ERRORS_MAX = 100;
/** Merchants' ids may be long. */
const SHOWN_MAX = 64;

/**
 * Throws a 403 that names each event which the request's key may not publish: then none of the request is accepted, as
 * with an invalid one. Names are compared character by character.
 */
export function refuseOutside(rights: PublishRights, events: readonly DomainEvent[], isBatch: boolean): void {
  if (rights.types === undefined && rights.merchants === undefined) return;
  const errors: FieldError[] = [];
  for (const [index, event] of events.entries()) {
    const at = pointerOf(index, isBatch);
    if (rights.types?.includes(event.type) === false)
      errors.push(notAllowed(`${at}/type`, `the key may not publish ${event.type}`, rights.types));
    if (rights.merchants?.includes(event.merchantId) === false) {
      const merchant = event.merchantId.slice(0, SHOWN_MAX);
      errors.push(
        notAllowed(
          `${at}/header/merchantId`,
          `the key may not publish for merchant ${merchant}`,
          rights.merchants,
        ),
      );
    }
    if (errors.length >= ERRORS_MAX) break;
  }
  const [first] = errors;
  if (first === undefined) return;
  const detail =
    `No event of the request was accepted: ${first.detail}. ` +
    'An operator can change what the key may publish (hookrail operator keys set).';
  throw new ApiError('publish_not_allowed', detail, { errors: errors.slice(0, ERRORS_MAX) });
}

/** Returns the JSON pointer of an event in a request. */
export function pointerOf(index: number, isBatch: boolean): string {
  return isBatch ? `/${index}` : '';
}

const NAMED_MAX = 20;

function notAllowed(pointer: string, what: string, allowed: readonly string[]): FieldError {
  const more = allowed.length > NAMED_MAX ? ` and ${allowed.length - NAMED_MAX} more` : '';
  return {
    pointer,
    code: 'not_allowed',
    detail: `${what}; it may publish ${allowed.slice(0, NAMED_MAX).join(', ')}${more}`,
  };
}
