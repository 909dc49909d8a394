import { formatDuration } from '../../../client/duration.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Id } from '../../parts/id.tsx';
import { inWords, Outcome, toneOf } from '../../parts/outcome.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { shortId } from '../../parts/short-id.ts';
import { Shown } from '../../parts/shown.tsx';
import { Countdown, Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { useId } from '../parts/address.ts';
import { MerchantName, ProducerName } from '../parts/names.tsx';
import { Panel } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { DeliveryLook, EventLook } from '../shapes.ts';

const EVERY_MS = 5000;

/** One event: who published it, and where it went. Its data is not shown: it is personal. */
export function EventPage() {
  const id = useId();
  useTitle(`Event ${shortId(id)}`);
  const event = useCommand<EventLook>('events-get', { id }, { everyMs: EVERY_MS });
  return (
    <Shown query={event}>
      {({ eventId, merchantId, type, subType, subjectId, occurredAt, publishedBy, endpoints }) => (
        <>
          <section className="panel">
            <h1>
              {type}/{subType}
            </h1>
            <p className="facts">
              Event <Id id={eventId} what="the event's id" /> · of <MerchantName id={merchantId} /> · occurred{' '}
              <Time at={occurredAt} /> · published by <ProducerName publishedBy={publishedBy} />
            </p>
            <p>
              <Way to={`/subjects/${encodeURIComponent(subjectId)}`}>The whole story of what it is about</Way>
            </p>
          </section>
          <Panel title="Endpoints">
            {endpoints.length === 0 ? <p>There was no endpoint when the event was accepted.</p> : null}
            <ul className="lines">
              {endpoints.map(({ endpointId, verdict, deliveryId }) => (
                <li key={endpointId}>
                  <Way to="/deliveries" search={{ endpoint: endpointId }} title={endpointId}>
                    {shortId(endpointId)}
                  </Way>
                  <span>{verdict === 'delivered_to' ? 'has a delivery' : inWords(verdict)}</span>
                  {deliveryId ? <Way to={`/deliveries/${deliveryId}`}>Show it</Way> : null}
                </li>
              ))}
            </ul>
          </Panel>
        </>
      )}
    </Shown>
  );
}

/** One delivery: each attempt, and why it has not arrived. */
export function DeliveryPage() {
  const id = useId();
  useTitle(`Delivery ${shortId(id)}`);
  const delivery = useCommand<DeliveryLook>('deliveries-get', { id }, { everyMs: EVERY_MS });
  return <Shown query={delivery}>{(look) => <Delivery look={look} />}</Shown>;
}

function Delivery({ look }: { readonly look: DeliveryLook }) {
  return (
    <>
      <section className="panel">
        <h1>
          {look.type}/{look.subType} <Outcome tone={toneOf(look.status)}>{inWords(look.status)}</Outcome>
        </h1>
        <p className="facts">
          Delivery <Id id={look.deliveryId} what="the delivery's id" /> · of{' '}
          <MerchantName id={look.merchantId} />
        </p>
        <p>
          <Sentence text={look.explanation} />
          {look.nextAttemptAt === null ? null : (
            <>
              {' '}
              Next attempt <Countdown to={look.nextAttemptAt} />.
            </>
          )}
        </p>
        <p>
          <Way to={`/events/${look.eventId}`}>The event and its other endpoints</Way>
        </p>
      </section>
      <Panel title="Attempts">
        {look.attempts.length === 0 ? <p>None was made yet.</p> : null}
        {look.attempts.length === 0 ? null : (
          <Table label="Attempts" columns={['Attempt', 'Started', 'Took', 'Answer']}>
            {look.attempts.map(
              ({ number, startedAt, durationMs, responseStatus, failureCode, failureDetail }) => (
                <tr key={startedAt}>
                  <th scope="row">{number}</th>
                  <td>
                    <Time at={startedAt} digits="milliseconds" />
                  </td>
                  <td>{formatDuration(durationMs)}</td>
                  <td>
                    <Outcome tone={failureCode === null ? 'good' : 'bad'}>
                      {responseStatus ?? failureCode}
                    </Outcome>
                    <div className="note">
                      <Foreign text={failureDetail ?? ''} />
                    </div>
                  </td>
                </tr>
              ),
            )}
          </Table>
        )}
      </Panel>
    </>
  );
}
