import type { EndpointChange, HeadersChange, LegacyChange } from '../endpoints.ts';
import type { EndpointRow } from './endpoint-rows.ts';

type Columns = Omit<
  EndpointRow,
  | 'seq'
  | 'uuid'
  | 'merchant_id'
  | 'legacy'
  | 'notices'
  | 'version'
  | 'created_at'
  | 'failure_count'
  | 'exhausted_count'
  | `last_${string}`
  | `seal_${string}`
  | `prepared_${string}`
> &
  Partial<Record<keyof typeof NOT_PREPARED, null>>;

/** The columns of an endpoint that has no prepared secret: a secret that is set discards it. */
export const NOT_PREPARED = {
  prepared_key_id: null,
  prepared_ciphertext: null,
  prepared_hint: null,
  prepared_at: null,
} as const;

type HeaderColumns = Pick<
  Columns,
  'header_names' | 'headers_key_id' | 'headers_ciphertext' | 'headers_set_at'
>;

function headerColumns(row: EndpointRow, change: EndpointChange['headers'], at: number): HeaderColumns {
  const { header_names, headers_key_id, headers_ciphertext, headers_set_at } = row;
  if (!change) return { header_names, headers_key_id, headers_ciphertext, headers_set_at };
  const { to } = change;
  return {
    header_names: to && JSON.stringify(to.names),
    headers_key_id: to?.sealed.keyId ?? null,
    headers_ciphertext: to?.sealed.ciphertext ?? null,
    headers_set_at: at,
  };
}

/** Returns whether an endpoint's headers are others than a change was made for. */
export function areOthers(row: EndpointRow, { seen }: HeadersChange): boolean {
  return (
    row.headers_key_id !== (seen?.sealed.keyId ?? null) ||
    row.headers_ciphertext !== (seen?.sealed.ciphertext ?? null)
  );
}

/** Returns what a change makes of an endpoint's columns, and whether its failures no longer count. */
export function changedColumns(
  row: EndpointRow,
  { secret, ...change }: EndpointChange & Pick<LegacyChange, 'secret'>,
  at: number,
): { readonly columns: Columns; readonly resetsHealth: boolean } {
  const { url = row.url } = change;
  const isMoved = url !== row.url;
  const isActivated = change.status === 'active' && row.status !== 'active';
  // From auto_disabled to disabled is the merchant's own decision: the recorded reason becomes theirs.
  const isDisabled = change.status === 'disabled' && row.status !== 'disabled';
  const isActive = change.status === 'active';
  const columns = {
    url,
    description: change.description ?? row.description,
    subscribed_events:
      change.subscribedEvents === undefined
        ? row.subscribed_events
        : change.subscribedEvents && JSON.stringify(change.subscribedEvents),
    status: change.status ?? row.status,
    api_version: change.apiVersion ?? row.api_version,
    public_key_signature: Number(change.publicKeySignature ?? row.public_key_signature === 1),
    activated_at: isActivated || isMoved ? at : row.activated_at,
    disabled_at: isDisabled ? at : isActive ? null : row.disabled_at,
    disabled_reason: isDisabled ? 'manual' : isActive ? null : row.disabled_reason,
    ...headerColumns(row, change.headers, at),
    requests_per_second:
      change.requestsPerSecond === undefined ? row.requests_per_second : change.requestsPerSecond,
    secret_key_id: secret?.sealed.keyId ?? row.secret_key_id,
    secret_ciphertext: secret?.sealed.ciphertext ?? row.secret_ciphertext,
    secret_hint: secret?.hint ?? row.secret_hint,
    secret_rotated_at: secret ? at : row.secret_rotated_at,
    ...(secret ? NOT_PREPARED : {}),
    newest_check: isMoved ? null : row.newest_check,
    updated_at: at,
  };
  // Failures at another URL do not count for this one.
  return { columns, resetsHealth: isActive || isMoved };
}
