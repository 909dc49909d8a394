import type { ContentFault } from '../../services/domain/content/content-fault.ts';

/** The JSON of the operator's commands, as far as the console shows it (docs/operate/commands.md, "Output"). */

interface StreamState {
  readonly stream: string;
  readonly isRead: boolean;
  readonly waiting: number;
  readonly oldestSeconds: number;
  readonly stalledPartitions: readonly string[];
  readonly lostRecords: number;
  readonly headroomSeconds: number | null;
}

interface ProcessState {
  readonly url: string;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly waiting: readonly string[];
  readonly version: string | null;
  readonly uptimeSeconds: number | null;
  readonly producerWaitingSeconds: number;
  readonly directoryStalenessSeconds: number;
  readonly stuckHandlers: number;
}

interface Count {
  readonly reason: string;
  readonly count: number;
}

export interface Summary extends Count {
  readonly oldest: string;
  readonly newest: string;
}

export interface Status {
  readonly processes: readonly ProcessState[];
  readonly streams: readonly StreamState[];
  readonly parked: readonly (Count & { readonly oldestSeconds: number })[];
  readonly oldestOverdueSeconds: number | null;
  readonly quarantine: readonly Summary[] | null;
  readonly deadLetters: readonly Summary[] | null;
  readonly merchants: {
    readonly onHold: { readonly count: number; readonly names: readonly string[] };
    readonly endpoints: Readonly<Record<'active' | 'disabled' | 'auto_disabled' | 'failing', number>>;
  } | null;
  readonly freeBytes: number | null;
}

interface Failing {
  readonly endpoints: number;
  readonly failures: number;
  readonly failingSince: string | null;
  readonly code: string | null;
}

export interface Newest {
  readonly since: string;
  readonly deliveries: number;
  readonly attemptsPerSecond: number;
  readonly results: readonly { readonly name: string; readonly count: number }[];
  readonly p99Seconds: number | null;
  readonly failingHosts: readonly (Failing & {
    readonly name: string;
    readonly merchantIds: readonly string[];
  })[];
  readonly failingMerchants: readonly (Failing & {
    readonly merchantId: string;
    readonly name: string | null;
  })[];
}

export interface Found {
  readonly kind: string;
  readonly id: string;
  readonly merchantId: string | null;
  readonly says: string;
}

export interface Merchant {
  readonly merchantId: string;
  readonly name: string;
  readonly state: string;
}

export interface MerchantLook extends Merchant {
  readonly stateSince: string | null;
  readonly owed: number;
  readonly held: number;
  readonly isMore: boolean;
  readonly lastEvent: string | null;
  readonly lastEventAt: string | null;
}

export interface Endpoint {
  readonly endpointId: string;
  readonly merchantId: string;
  readonly status: string;
  readonly url: string;
  readonly description: string | null;
  readonly failureCount: number;
  readonly lastFailureCode: string | null;
  readonly lastResponseStatus: number | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly disabledAt: string | null;
  readonly disabledReason: string | null;
}

export interface Key {
  readonly keyId: string;
  readonly merchantId: string | null;
  readonly hint: string;
  readonly name: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export interface Change {
  readonly at: string;
  readonly action: string;
  readonly actor: string;
  readonly person: string | null;
  readonly key: string | null;
  readonly keyName: string | null;
  readonly merchantId: string | null;
  readonly endpointId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly cursor: string;
}

export interface Delivery {
  readonly createdAt: string;
  readonly status: string;
  readonly type: string;
  readonly subType: string;
  readonly deliveryId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly subjectId: string;
  readonly attemptsMade: number;
  readonly nextAttemptAt: string | null;
  readonly lastResponseStatus: number | null;
  readonly lastFailureCode: string | null;
}

export interface DeliveryLook extends Delivery {
  readonly explanation: string;
  readonly attempts: readonly {
    readonly number: number;
    readonly startedAt: string;
    readonly durationMs: number;
    readonly responseStatus: number | null;
    readonly failureCode: string | null;
    readonly failureDetail: string | null;
  }[];
}

export interface EventLook {
  readonly eventId: string;
  readonly merchantId: string;
  readonly type: string;
  readonly subType: string;
  readonly subjectId: string;
  readonly occurredAt: string;
  readonly publishedBy: string | null;
  readonly endpoints: readonly {
    readonly endpointId: string;
    readonly verdict: string;
    readonly deliveryId?: string | null;
  }[];
}

export interface Story {
  readonly merchantId: string;
  readonly subjectId: string;
  readonly kind: string;
  readonly state: string | null;
  readonly held: boolean;
  readonly hasMore: boolean;
  readonly events: readonly {
    readonly eventId: string;
    readonly type: string;
    readonly subType: string;
    readonly occurredAt: string;
    readonly endpoints: readonly {
      readonly endpointId: string | null;
      readonly outcome: string;
      readonly explanation: string;
      readonly deliveries: readonly Pick<Delivery, 'deliveryId' | 'status' | 'attemptsMade'>[];
    }[];
  }[];
  readonly quarantine: {
    readonly searched: string;
    readonly events: readonly {
      readonly at: string;
      readonly eventId: string | null;
      readonly type: string | null;
      readonly subType: string | null;
      readonly title: string;
      readonly detail: string;
      readonly remedy: string;
    }[];
  };
  readonly endpoints: readonly { readonly endpointId: string; readonly url: string | null }[];
}

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
