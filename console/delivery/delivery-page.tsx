import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { deliveryQuery, eventQuery } from '../api/reads.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { SaveTicket } from '../exports/save-ticket.tsx';
import { EndpointName } from '../parts/endpoint-name.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Id } from '../parts/id.tsx';
import { Loading } from '../parts/loading.tsx';
import { inWords, Outcome, toneOf, triggerOf } from '../parts/outcome.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { Time } from '../parts/time.tsx';
import { useTitle } from '../parts/title.ts';
import { Exchange } from './exchange.tsx';
import { explained } from './explained.ts';
import { Resend } from './resend.tsx';
import { ScheduleLine } from './schedule-line.tsx';

/** Shows one delivery: the request, the response, and the attempts that follow. */
export function DeliveryPage() {
  const { endpoint, id } = useParams({ from: '/endpoints/$endpoint/deliveries/$id' });
  const { data, error, refetch } = useQuery(deliveryQuery(endpoint, id));
  useTitle(data ? `${data.type}/${data.subType}` : 'Delivery');
  if (data === undefined)
    return error ? <ErrorPanel error={error} retry={() => void refetch()} /> : <Loading />;
  // Another delivery begins with its own last attempt.
  return <Delivery key={id} delivery={data} />;
}

function Delivery({ delivery }: { readonly delivery: DeliveryDetail }) {
  const [chosen, setChosen] = useState<number>();
  const shown = chosen ?? delivery.attempts.at(-1)?.number ?? 0;
  const attempt = delivery.attempts.find(({ number }) => number === shown);
  return (
    <>
      <section className="panel">
        <div className="delivery-head">
          <h1>
            {delivery.type}/{delivery.subType} <span className="kind">→</span>{' '}
            <Link to="/endpoints/$endpoint" params={{ endpoint: delivery.endpoint_uuid }}>
              <EndpointName uuid={delivery.endpoint_uuid} />
            </Link>
          </h1>
          <SaveTicket delivery={delivery} />
          <Resend delivery={delivery} />
        </div>
        <p className="facts">
          <Outcome tone={toneOf(delivery.status)}>{inWords(delivery.status)}</Outcome> · delivery{' '}
          <Id id={delivery.delivery_uuid} what="the delivery's id" />
          {delivery.trigger === 'live' ? null : <span className="chip">{triggerOf(delivery.trigger)}</span>} ·
          version {delivery.api_version}
        </p>
        <p className="explanation">
          <Sentence text={explained(delivery)} />
        </p>
        <ScheduleLine delivery={delivery} shown={shown} onShow={setChosen} />
      </section>
      {attempt === undefined ? null : <Exchange delivery={delivery} attempt={attempt} />}
      <EventOf delivery={delivery} />
    </>
  );
}

/** The event, and what its other endpoints got. */
function EventOf({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { event_uuid: id, subject_uuid: subject, trigger } = delivery;
  const { data: event, error } = useQuery({ ...eventQuery(id), enabled: trigger !== 'test' });
  return (
    <section className="panel">
      <h2>Event</h2>
      <p className="facts">
        <Id id={id} what="the event's id" /> · occurred{' '}
        <Time at={delivery.occurred_at} digits="milliseconds" />
      </p>
      {trigger === 'test' ? null : (
        <p>
          <Link to="/subjects/$id" params={{ id: subject }}>
            The whole story of what it is about
          </Link>
        </p>
      )}
      {error ? <ErrorPanel error={error} /> : null}
      {event === undefined ? null : (
        <ul className="lines">
          {event.endpoints.map(({ endpoint_uuid: endpoint, verdict, status, delivery_uuid: sent }) => (
            <li key={`${endpoint} ${sent}`}>
              {sent === null || sent === delivery.delivery_uuid ? (
                <EndpointName uuid={endpoint} />
              ) : (
                <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id: sent }}>
                  <EndpointName uuid={endpoint} />
                </Link>
              )}
              <Outcome tone={toneOf(status ?? verdict)}>{inWords(status ?? verdict)}</Outcome>
              {sent === delivery.delivery_uuid ? <span className="note">this delivery</span> : null}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
