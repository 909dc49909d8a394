import type { RecordSeals } from '../../domain/seals/record-seals.ts';
import type { Statements } from './statements.ts';

/** A kind of row that a transaction added and that a loop of this process waits for. */
export type Added = 'outbox' | 'replay';

/** Statements that are kept together or not at all, with what each engine does in its own way. */
export interface Transaction extends Statements {
  /** When the change was asked for, milliseconds by the wall clock. */
  readonly at: number;
  /** Seals records; null in a process without the key ring. */
  readonly seals: RecordSeals | null;
  /**
   * Waits until no other transaction changes the endpoints of the merchant, and keeps them out until this one ends. So
   * what a change checks first (the quota, whether the URL is taken) holds when it commits.
   */
  lockMerchant(merchantId: string): Promise<void>;
  /**
   * Adds a directory change, as JSON, to the outbox. Returns its id. Throws StoreUnavailable while a failover was not
   * reconciled, unless `isKnown`: the change is in force already.
   */
  addToOutbox(change: string, isKnown?: boolean): Promise<number>;
  /**
   * Adds the order to erase an entity's bodies, of events accepted before this time. Returns its number. What is recorded
   * from now on knows it.
   */
  addErasure(order: {
    /** Null = every entity of the merchant. */
    readonly entityId: string | null;
    /** Null = of any merchant. */
    readonly merchantId: string | null;
    readonly acceptedBefore: number;
  }): Promise<number>;
  /** Adds the audit entry of an endpoint's change to the merchant's feed. */
  reportEndpoint(merchantId: string, auditId: number, at: number): void;
  /** Tells that an endpoint's row was changed: its failures are kept, start again from none, or it is deleted. */
  endpointChanged(uuid: string, failures: 'kept' | 'none' | 'deleted'): Promise<void>;
  /** Called within the transaction; those who wait for it are woken once it is committed. */
  added(what: Added): void;
}
