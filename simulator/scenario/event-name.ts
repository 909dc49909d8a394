import { SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES, type EventType, isEventType } from '../../services/domain/event.ts';
import {
  isNoticeType,
  NOTICE_TYPES,
  type NoticeType,
  type WebhookType,
} from '../../services/domain/notices/notice.ts';
import { subTypesOfNotice } from '../../services/domain/notices/notice-catalog.ts';
import { didYouMean, meantName } from '../../services/messages/did-you-mean.ts';
import { type CommandFailure, mistyped, usage } from '../exit.ts';
import { layout } from '../terminal/width.ts';
import { scenarioNames } from './library.ts';

export interface EventName {
  readonly type: EventType;
  readonly subType: string;
}

/** A notice about hookrail: no producer publishes it, and a test of it has no user or corporate. */
export interface NoticeName {
  readonly type: NoticeType;
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

const LIST = 'list them with: hookrail sim catalog';

/** Parses "type/subType" or "type". Throws a usage failure that names the nearest, or the valid ones. */
export function parseEventName(text: string): EventName {
  const [type = '', subType, ...rest] = text.split('/');
  if (rest.length > 0) throw usage(`"${text}" is not type/subType`);
  if (scenarioNames().includes(text)) {
    throw usage(`${text} is a scenario, not an event`, `hookrail sim run ${text}`);
  }
  const legal = isEventType(type) ? SUB_TYPES[type] : [];
  const chosen = subType ?? (isEventType(type) ? USUAL[type] : undefined) ?? legal[0] ?? '';
  if (isEventType(type) && legal.includes(chosen)) return { type, subType: chosen };
  throw unknownEvent(text, type, chosen);
}

/** Parses the name of an event or of an operational notice, as a test may have it. */
export function parseWebhookName(text: string): EventName | NoticeName {
  const [near = '', given, ...rest] = text.split('/');
  const nearest = meantName(near, NOTICE_TYPES);
  const type = isNoticeType(near) ? near : NOTICE_TYPES.find((each) => each === nearest);
  if (type === undefined || rest.length > 0) return parseEventName(text);
  const legal = subTypesOfNotice(type);
  const subType = given ?? legal[0] ?? '';
  const meant = legal.includes(subType) ? subType : meantName(subType, legal);
  if (type === near && meant === subType) return { type, subType };
  const whole = meant === undefined ? undefined : `${type}${given === undefined ? '' : `/${meant}`}`;
  if (type !== near)
    throw mistyped(`"${near}" is not a type; did you mean ${type}?`, text, whole ?? type, LIST);
  const says = `${type} has no subType "${subType}"; it has ${legal.join(', ')}`;
  throw mistyped(says, text, whole, `hookrail sim catalog ${type}`);
}

function unknownEvent(text: string, type: string, subType: string): CommandFailure {
  if (isNoticeType(type))
    return usage(
      `${type} is a notice about hookrail, not an event: it is sent as a test, to an operational endpoint`,
      `hookrail sim endpoints test <endpoint> --event ${text}`,
    );
  const meant = meantEvent(text);
  if (!isEventType(type)) {
    const says = `"${type}" is not an event type`;
    if (meant !== undefined) return mistyped(`${says}; did you mean ${meant}?`, text, meant, LIST);
    return usage(`${says}${didYouMean(type, EVENT_TYPES)}`, LIST);
  }
  const says = `${type} has no subType "${subType}"`;
  if (meant !== undefined) {
    return mistyped(`${says}; did you mean ${meant.split('/')[1]}?`, text, meant, LIST);
  }
  return usage(`${says}; it has ${SUB_TYPES[type].join(', ')}`, `hookrail sim catalog ${type}`);
}

/** Returns the event that a text can only be: in another case, with another sign between, a subType alone. */
function meantEvent(text: string): string | undefined {
  const type = text.includes('/') ? undefined : meantName(text, EVENT_TYPES);
  if (type !== undefined) return type;
  const all = EVENT_TYPES.flatMap((each) => SUB_TYPES[each].map((subType) => `${each}/${subType}`));
  const [near = '', subType] = text.split('/');
  const known = EVENT_TYPES.find(
    (each) => each === (isEventType(near) ? near : meantName(near, EVENT_TYPES)),
  );
  if (known !== undefined && subType !== undefined) {
    const meant = meantName(subType, SUB_TYPES[known]);
    return meant && `${known}/${meant}`;
  }
  const whole = meantName(text, all);
  if (whole !== undefined) return whole;
  const alone = all.filter((name) => name.split('/')[1] === meantName(text, [name.split('/')[1] ?? '']));
  return alone.length === 1 ? alone[0] : undefined;
}

/** Parses event types, separated by commas or given one by one. Throws a usage failure that names the nearest. */
export function parseEventTypes(texts: readonly string[]): EventType[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      if (isEventType(text)) return text;
      const [before = ''] = text.split('/');
      const meant = isEventType(before) ? before : meantName(text, EVENT_TYPES);
      const says = `"${text}" is not an event type`;
      if (meant !== undefined) throw mistyped(`${says}; did you mean ${meant}?`, text, meant, LIST);
      throw usage(`${says}${didYouMean(text, EVENT_TYPES)}`, LIST);
    });
}

/** Returns the event types with their subTypes, a line each, for a help. */
export function eventTable(width: number): string {
  return layout.columns(
    EVENT_TYPES.map((type) => [`  ${type}`, SUB_TYPES[type].join(' ')]),
    width,
  );
}

/** Returns types of events and of operational notices: which of them fit the endpoint's kind, the service says. */
export function parseWebhookTypes(texts: readonly string[]): WebhookType[] {
  const names = texts.flatMap((text) => text.split(',')).map((text) => text.trim());
  return names.flatMap((name) => (isNoticeType(name) ? [name] : parseEventTypes([name])));
}
