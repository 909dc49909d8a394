import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { eventQuery } from '../api/reads.ts';
import { EndpointName } from '../parts/endpoint-name.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Id } from '../parts/id.tsx';
import { JsonText } from '../parts/json-text.tsx';
import { Loading } from '../parts/loading.tsx';
import { inWords, Outcome, toneOf } from '../parts/outcome.tsx';
import { Time } from '../parts/time.tsx';
import { useTitle } from '../parts/title.ts';

/** One event: which endpoints got it. */
export function EventPage() {
  const { id } = useParams({ from: '/events/$id' });
  const { data: event, error, refetch } = useQuery(eventQuery(id));
  useTitle(event ? `${event.type}/${event.subType}` : 'Event');
  if (event === undefined)
    return error ? <ErrorPanel error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <>
      <section className="panel">
        <h1>
          {event.type}/{event.subType}
        </h1>
        <p className="facts">
          Event <Id id={event.event_uuid} what="the event's id" /> · occurred <Time at={event.occurred_at} />
          {event.simulated ? ' · simulated' : ''}
        </p>
        <p>
          <Link to="/subjects/$id" params={{ id: event.subject_uuid }}>
            The whole story of what it is about
          </Link>
        </p>
      </section>
      <section className="panel">
        <h2>Endpoints</h2>
        {event.endpoints.length === 0 ? <p>There was no endpoint when the event was accepted.</p> : null}
        <ul className="lines">
          {event.endpoints.map(({ endpoint_uuid: endpoint, verdict, delivery_uuid: delivery, status }) => (
            <li key={`${endpoint} ${delivery}`}>
              <EndpointName uuid={endpoint} />
              <Outcome tone={toneOf(status ?? verdict)}>{inWords(status ?? verdict)}</Outcome>
              {delivery === null ? null : (
                <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id: delivery }}>
                  Delivery
                </Link>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section className="panel">
        <h2>Body</h2>
        {event.body === null ? <p>The body is no longer kept.</p> : <JsonText text={event.body} />}
      </section>
    </>
  );
}
