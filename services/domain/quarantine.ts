/** Why an event cannot be routed. The bytes are kept; after a fix the event can be put back on the stream. */
export const QUARANTINE_REASONS = [
  'undecodable',
  'unknown_schema',
  'schema_violation',
  'event_id_conflict',
  'unknown_merchant',
  'simulated_in_production',
  'render_failed',
] as const;
export type QuarantineReason = (typeof QUARANTINE_REASONS)[number];

export interface Quarantined {
  readonly reason: QuarantineReason;
  /** For people: what is wrong and where, without personal data. */
  readonly detail: string;
  readonly at: number;
  /** If it could be read that far. */
  readonly eventId: string | null;
  readonly merchantId: string | null;
  /** The record exactly as it arrived. */
  readonly bytes: Uint8Array;
}
