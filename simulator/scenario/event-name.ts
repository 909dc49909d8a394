import { SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES, type EventType, isEventType } from '../../services/domain/event.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { usage } from '../exit.ts';

export interface EventName {
  readonly type: EventType;
  readonly subType: string;
}

/** The default subType of a type: the end of its happy path. */
const USUAL: Partial<Readonly<Record<EventType, string>>> = {
  fiatToCrypto: 'SUCCESS',
  cryptoToFiat: 'SUCCESS',
  KYC: 'FULL_USER',
  KYB: 'ACTIVE',
  AML: 'AML_CHECKS_COMPLETED',
};

/** Parses "type/subType" or "type". Throws a usage failure that names the nearest, or the valid ones. */
export function parseEventName(text: string): EventName {
  const [type = '', subType, ...rest] = text.split('/');
  if (rest.length > 0) throw usage(`"${text}" is not type/subType`);
  if (!isEventType(type)) {
    throw usage(
      `"${type}" is not an event type${didYouMean(type, EVENT_TYPES)}`,
      `known: ${EVENT_TYPES.join(', ')}`,
    );
  }
  const legal = SUB_TYPES[type];
  const chosen = subType ?? USUAL[type] ?? legal[0] ?? '';
  if (!legal.includes(chosen)) {
    throw usage(
      `${type} has no subType "${chosen}"${didYouMean(chosen, legal)}`,
      `it has ${legal.join(', ')}`,
    );
  }
  return { type, subType: chosen };
}
