import { formatDuration } from '../../../client/duration.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { useNow } from '../../parts/now.ts';

/** Says how old the secret in force is. */
export function SecretAge({ endpoint }: { readonly endpoint: Endpoint }) {
  const { secret_rotated_at: rotated, created_at: created } = endpoint;
  return <>{formatDuration(Math.max(0, useNow() - Date.parse(rotated ?? created)))} old</>;
}
