import type { Leaf, LeafKind } from './leaf.ts';

/**
 * The columns of each table that rows are copied into, in the order in which they are written. They are named, so that a
 * process goes on while a newer build adds one.
 */
export const LEAF_COLUMNS: Readonly<Record<LeafKind, readonly string[]>> = {
  event: [
    'seq',
    'created_at',
    'merchant',
    'event_id',
    'entity_id',
    'entity_kind',
    'type',
    'sub_type',
    'occurred_at',
    'simulated',
    'routed_at',
    'removed_at',
    'trace',
    'published_by',
    'subject_id',
    'sequence',
  ],
  delivery: [
    'seq',
    'created_at',
    'delivery_id',
    'event_id',
    'entity_id',
    'occurred_at',
    'next_attempt_at',
    'last_attempt_at',
    'merchant',
    'endpoint',
    'type',
    'api_version',
    'trigger',
    'status',
    'cancel_reason',
    'attempts_made',
    'attempts_max',
    'last_response_status',
    'last_failure_code',
    'parked',
    'removed',
    'sub_type',
    'subject_id',
    'sequence',
  ],
  attempt: [
    'attempt_id',
    'created_at',
    'started_at',
    'duration_ms',
    'next_attempt_at',
    'response_status',
    'failure_code',
    'truncated',
    'failure_detail',
    'headers',
    'signature',
  ],
  body: ['owner', 'created_at', 'kind', 'n', 'codec', 'bytes'],
  failing: ['merchant', 'endpoint', 'status', 'created_at', 'seq', 'delivery_id'],
  missed: ['endpoint', 'created_at', 'event_id', 'delivery_id', 'delivery_at'],
  feed: ['merchant', 'seq', 'created_at', 'kind', 'detail', 'event_id', 'delivery_id', 'ref', 'ref_at'],
  tally: ['endpoint', 'created_at', 'cells'],
};

/** Returns a leaf with its columns, as COPY and INSERT name them. */
export function intoLeaf(kind: LeafKind, { suffix }: Leaf): string {
  return `${kind}_${suffix} (${LEAF_COLUMNS[kind].join(', ')})`;
}
