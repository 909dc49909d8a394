import type { EventFilter } from '../store.ts';

/** The conditions on what an event is about. */
export type About = Pick<EventFilter, 'entityId' | 'subjectId' | 'transactionId'>;

/**
 * The most events that a list finds by what they are about. An entity that has more has them all over the log: the list
 * finds them as it finds those of a type, by examining the newest.
 */
export const ABOUT_EVENTS_MAX = 1000;

/** Returns the id that narrows a filter down most; undefined when it has none. */
export function aboutIdOf({ transactionId, subjectId, entityId }: About): string | undefined {
  return transactionId ?? subjectId ?? entityId;
}
