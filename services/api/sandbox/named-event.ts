import { entityKindsOf, SUB_TYPES } from '../../domain/catalog/catalog.ts';
import type { EntityKind, EventType } from '../../domain/event.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';
import { ApiError } from '../problem.ts';

/** The type, subType and entity of an event that a merchant asks for. */
export interface EventNamed {
  readonly type: EventType;
  readonly subType: string;
  readonly user_uuid?: string;
  readonly corporate_uuid?: string;
}

/** Checks that type, subType and entity fit together. */
export function checkEventNamed({ type, subType, user_uuid }: EventNamed): void {
  checkSubType(type, subType, SUB_TYPES[type]);
  const kinds = entityKindsOf(type);
  const kind: EntityKind = user_uuid === undefined ? 'CORPORATE' : 'USER';
  if (!kinds.includes(kind)) {
    const wanted = kinds.includes('USER') ? 'user_uuid' : 'corporate_uuid';
    throw new ApiError(
      'entity_not_allowed_for_type',
      `${type} concerns ${kinds.join(' or ')}: use ${wanted}.`,
    );
  }
}

export function checkSubType(type: WebhookType, subType: string, has: readonly string[]): void {
  if (has.includes(subType)) return;
  const errors = [{ pointer: '/subType', code: 'invalid_enum', detail: `one of ${has.join(', ')}` }];
  const detail = `${type} has the subTypes ${has.join(', ')}.`;
  throw new ApiError('subtype_type_mismatch', detail, { errors });
}

/** Returns the user or the corporate that an event is about. */
export function entityOf({ user_uuid: user, corporate_uuid: corporate }: EventNamed) {
  const entityKind: EntityKind = user === undefined ? 'CORPORATE' : 'USER';
  return { entityId: (user ?? corporate ?? '').toLowerCase(), entityKind };
}
