import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { resend } from '../api/reads.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { useReadOnly } from '../parts/read-only.ts';
import { shortId } from '../parts/short-id.ts';

/** Sends the event again. The answer is a delivery of its own, which has a screen of its own. */
export function Resend({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { endpoint_uuid: endpoint, delivery_uuid: id, trigger, body_removed: isRemoved } = delivery;
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => resend(endpoint, id) });
  const why = whyNot(readOnly, trigger === 'test', isRemoved);
  return (
    <div className="resend">
      <button
        type="button"
        className="primary"
        disabled={why !== undefined || isPending}
        onClick={() => mutate()}
      >
        {isPending ? 'Sending…' : 'Resend'}
      </button>
      {why === undefined ? null : <span className="note">{why}</span>}
      {data === undefined ? null : (
        <p role="status">
          Sent again as{' '}
          <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id: data.delivery_uuid }}>
            delivery {shortId(data.delivery_uuid)}
          </Link>
        </p>
      )}
      {error ? <ErrorPanel error={error} /> : null}
    </div>
  );
}

function whyNot(readOnly: string | undefined, isTest: boolean, isRemoved: boolean): string | undefined {
  if (readOnly !== undefined) return readOnly;
  if (isTest) return 'A test is not sent again: send another test.';
  return isRemoved ? 'Its body is no longer kept.' : undefined;
}
