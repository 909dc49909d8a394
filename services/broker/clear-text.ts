import type { ContentFault } from '../domain/content/content-fault.ts';
import type { DomainEvent } from '../domain/event.ts';

/** The content of a quarantined record, for people. A part of the broker port (broker.ts). */
export type ClearText =
  | {
      readonly kind: 'event';
      /** The event in the form of POST /producer/events. Plain JSON. */
      readonly document: unknown;
      /** Where its form breaks a rule: then it is no event. */
      readonly problems: readonly ContentFault[];
      /** Absent where the form breaks a rule. */
      readonly event?: DomainEvent;
    }
  /** A task that was put aside, or entries of the journal. Plain JSON. */
  | { readonly kind: 'task' | 'journal'; readonly document: unknown }
  /** Why it cannot be read, or is not. */
  | { readonly kind: 'unreadable'; readonly why: string };
