import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { deliveryQuery, eventQuery, resend } from '../api/reads.ts';
import { useReadOnly } from '../api/session.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { SaveTicket } from '../exports/save-ticket.tsx';
import { Button, Id } from '../parts/controls.tsx';
import { DeliveryLink, EndpointLink, EndpointName } from '../parts/endpoint.tsx';
import { ErrorPanel, Panel, Shown, useTitle } from '../parts/screen.tsx';
import { Sentence, Status, Time, Trigger } from '../parts/text.tsx';
import { shortId } from '../parts/words.ts';
import { Exchange } from './exchange.tsx';
import { explained } from './explained.ts';
import { ScheduleLine } from './schedule-line.tsx';

/** Shows one delivery: the request, the response, and the attempts that follow. */
export function DeliveryPage() {
  const { endpoint, id } = useParams({ from: '/endpoints/$endpoint/deliveries/$id' });
  const query = useQuery(deliveryQuery(endpoint, id));
  useTitle(query.data ? `${query.data.type}/${query.data.subType}` : 'Delivery');
  // Another delivery begins with its own last attempt.
  return <Shown query={query}>{(delivery) => <Delivery key={id} delivery={delivery} />}</Shown>;
}

function Delivery({ delivery }: { readonly delivery: DeliveryDetail }) {
  const [chosen, setChosen] = useState<number>();
  const shown = chosen ?? delivery.attempts.at(-1)?.number ?? 0;
  const attempt = delivery.attempts.find(({ number }) => number === shown);
  return (
    <>
      <section className="panel">
        <div className="row from-top delivery-head">
          <h1>
            {delivery.type}/{delivery.subType} <span className="kind">→</span>{' '}
            <EndpointLink uuid={delivery.endpoint_uuid}>
              <EndpointName uuid={delivery.endpoint_uuid} />
            </EndpointLink>
          </h1>
          <SaveTicket delivery={delivery} />
          <Resend delivery={delivery} />
        </div>
        <p className="facts">
          <Status of={delivery.status} /> · delivery{' '}
          <Id id={delivery.delivery_uuid} what="the delivery's id" />
          <Trigger of={delivery.trigger} /> · version {delivery.api_version}
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
  const { event_uuid: id, delivery_uuid: own, subject_uuid: subject, trigger } = delivery;
  const { data: event, error } = useQuery({ ...eventQuery(id), enabled: trigger !== 'test' });
  return (
    <Panel title="Event">
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
      <ErrorPanel error={error} />
      {event === undefined ? null : (
        <ul className="lines">
          {event.endpoints.map(({ endpoint_uuid: endpoint, verdict, status, delivery_uuid: sent }) => {
            const name = <EndpointName uuid={endpoint} />;
            const isOther = sent !== null && sent !== own;
            return (
              <li key={`${endpoint} ${sent}`}>
                {isOther ? (
                  <DeliveryLink endpoint={endpoint} id={sent}>
                    {name}
                  </DeliveryLink>
                ) : (
                  name
                )}
                <Status of={status ?? verdict} />
                {sent === own ? <span className="note">this delivery</span> : null}
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** Sends the event again. The answer is a delivery of its own, which has a screen of its own. */
function Resend({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { endpoint_uuid: endpoint, delivery_uuid: id, trigger, body_removed: isRemoved } = delivery;
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => resend(endpoint, id) });
  const why = whyNot(readOnly, trigger === 'test', isRemoved);
  const isOff = why !== undefined;
  return (
    <div className="row resend">
      <Button kind="primary" busy={isPending && 'Sending…'} disabled={isOff} onClick={() => mutate()}>
        Resend
      </Button>
      {isOff ? <span className="note">{why}</span> : null}
      {data === undefined ? null : (
        <p role="status">
          Sent again as{' '}
          <DeliveryLink endpoint={endpoint} id={data.delivery_uuid}>
            delivery {shortId(data.delivery_uuid)}
          </DeliveryLink>
        </p>
      )}
      <ErrorPanel error={error} />
    </div>
  );
}

function whyNot(readOnly: string | undefined, isTest: boolean, isRemoved: boolean): string | undefined {
  if (readOnly !== undefined) return readOnly;
  if (isTest) return 'A test is not sent again: send another test.';
  return isRemoved ? 'Its body is no longer kept.' : undefined;
}
