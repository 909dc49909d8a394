import { formatDuration } from '../../../client/duration.ts';
import { useSession } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { useNow } from '../../parts/now.ts';

const HOUR_MS = 3_600_000;

/** Shows how near a failing endpoint is to being disabled: both bars must be full, and a delivery given up. */
export function DisableRule({ endpoint }: { readonly endpoint: Endpoint }) {
  const now = useNow();
  const rule = useSession()?.auto_disable;
  const { failure_count: failed, status, last_success_at: success, updated_at: changed } = endpoint;
  if (rule === undefined || status !== 'active' || failed === 0) return null;
  const withoutMs = now - Date.parse(success !== null && success > changed ? success : changed);
  const { failed_attempts: failedMax, without_success_hours: hours } = rule;
  return (
    <div className="rule">
      <p>
        hookrail disables the endpoint when both of these are full, and a delivery has used all its attempts:
      </p>
      <label>
        <span>without a success or a change of the endpoint</span>
        <progress max={hours * HOUR_MS} value={Math.max(0, withoutMs)} />
        <span>
          {formatDuration(Math.max(0, withoutMs))} of {formatDuration(hours * HOUR_MS)}
        </span>
      </label>
      <label>
        <span>failed attempts in a row</span>
        <progress max={failedMax} value={failed} />
        <span>
          {failed} of {failedMax}
        </span>
      </label>
    </div>
  );
}
