import { SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES, type EventType, isEventType } from '../../services/domain/event.ts';
import { didYouMean, nearestNames } from '../../services/messages/did-you-mean.ts';
import { usage } from '../exit.ts';
import { columns } from '../output.ts';
import { scenarioNames } from './library.ts';

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
  if (scenarioNames().includes(text)) {
    throw usage(`${text} is a scenario, not an event`, `hookrail sim run ${text}`);
  }
  if (!isEventType(type)) {
    throw usage(
      `"${type}" is not an event type${didYouMean(type, EVENT_TYPES)}`,
      'list them with: hookrail sim catalog',
    );
  }
  const legal = SUB_TYPES[type];
  const chosen = subType ?? USUAL[type] ?? legal[0] ?? '';
  if (!legal.includes(chosen)) {
    const [near] = nearestNames(chosen, legal, 1);
    throw usage(
      `${type} has no subType "${chosen}"; ${near ? `did you mean ${near}?` : `it has ${legal.join(', ')}`}`,
      `hookrail sim trigger ${near ? `${type}/${near}` : '--help'}`,
    );
  }
  return { type, subType: chosen };
}

/** Parses event types, separated by commas or given one by one. Throws a usage failure that names the nearest. */
export function parseEventTypes(texts: readonly string[]): EventType[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      if (isEventType(text)) return text;
      throw usage(
        `"${text}" is not an event type${didYouMean(text, EVENT_TYPES)}`,
        'list them with: hookrail sim catalog',
      );
    });
}

/** Returns the event types with their subTypes, a line each, for a help. */
export function eventTable(width: number): string {
  return columns(
    EVENT_TYPES.map((type) => [`  ${type}`, SUB_TYPES[type].join(' ')]),
    width,
  );
}
