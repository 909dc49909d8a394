import type { ContentFault } from '../../../services/domain/content/content-fault.ts';

/** A record as `quarantine list` has it. */
export interface Quarantined {
  readonly position: string;
  readonly at: string;
  readonly reason: string;
  readonly eventId: string | null;
  readonly merchantId: string | null;
  readonly publishedBy: string | null;
  readonly place: string | null;
  readonly title: string;
  readonly detail: string;
  readonly remedy: string;
  /** The id under which a conflict can be published. */
  readonly asNewEvent?: string;
}

/** A record as `quarantine show` has it. */
export interface ShownRecord extends Quarantined {
  readonly cause: string;
  readonly event: unknown;
  readonly task?: unknown;
  readonly journal?: unknown;
  readonly unreadable: string | null;
  readonly faults: readonly ContentFault[];
  readonly wouldReturn: string | null;
  readonly base64: string;
}

export interface Replayed {
  readonly replayed: number;
  readonly refused?: number;
  readonly refusals?: readonly { readonly position: string; readonly detail: string }[];
  readonly conflicts?: { readonly leftOut: number };
}
