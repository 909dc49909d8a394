import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Delivery } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Loading } from '../../parts/loading.tsx';
import { inWords, Outcome, toneOf, triggerOf } from '../../parts/outcome.tsx';
import { shortId } from '../../parts/short-id.ts';
import { Countdown, Time } from '../../parts/time.tsx';
import { newestQuery } from '../endpoint-reads.ts';
import { failedFirst } from './failed-first.ts';

const SHOWN = 12;

/** The newest deliveries, those that failed first. */
export function NewestDeliveries({ uuid }: { readonly uuid: string }) {
  const { data, error, refetch } = useQuery(newestQuery(uuid));
  const shown = data === undefined ? undefined : failedFirst(data.data).slice(0, SHOWN);
  return (
    <section className="panel">
      <div className="endpoint-head">
        <h2>Deliveries, failed ones first</h2>
        <Link to="/live" search={{ endpoint: uuid }}>
          All of them in Live
        </Link>
      </div>
      {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
      {shown === undefined ? error ? null : <Loading /> : null}
      {shown?.length === 0 ? (
        <p className="note">Nothing was sent to it yet. Send a test, or wait for an event.</p>
      ) : null}
      <ul className="lines deliveries-of">
        {shown?.map((delivery) => (
          <li key={delivery.delivery_uuid}>
            <Link
              to="/endpoints/$endpoint/deliveries/$id"
              params={{ endpoint: uuid, id: delivery.delivery_uuid }}
            >
              {delivery.type}/{delivery.subType}
            </Link>
            <Outcome tone={toneOf(delivery.status)}>{resultOf(delivery)}</Outcome>
            {delivery.trigger === 'live' ? null : <span className="chip">{triggerOf(delivery.trigger)}</span>}
            <span className="note">
              {delivery.subject_uuid === '' ? '' : `${shortId(delivery.subject_uuid)} · `}
              <Time at={delivery.last_attempt_at ?? delivery.created_at} />
              {delivery.next_attempt_at === null ? null : (
                <>
                  {' '}
                  · again <Countdown to={delivery.next_attempt_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function resultOf({ status, last_failure_code: code, last_response_status: answered }: Delivery): string {
  if (status === 'delivered') return `${inWords(status)} · ${answered}`;
  return [inWords(status), answered ?? code].filter((part) => part !== null).join(' · ');
}
