import { formatDuration } from '../../../client/duration.ts';
import { Id } from '../../parts/controls.tsx';
import { Panel, Shown, Table, useTitle, Way } from '../../parts/screen.tsx';
import { Countdown, foreign, Outcome, Sentence, Status, Time } from '../../parts/text.tsx';
import { inWords, shortId } from '../../parts/words.ts';
import { useCommand, useId } from '../api.ts';
import { MerchantName, ProducerName } from '../names.tsx';
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
          <Panel heading="h1" title={`${type}/${subType}`}>
            <p className="facts">
              Event <Id id={eventId} what="the event's id" /> · of <MerchantName id={merchantId} /> · occurred{' '}
              <Time at={occurredAt} /> · published by <ProducerName publishedBy={publishedBy} />
            </p>
            <p>
              <Way to={`/subjects/${encodeURIComponent(subjectId)}`}>The whole story of what it is about</Way>
            </p>
          </Panel>
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
  const { type, subType, status, deliveryId, merchantId, eventId, nextAttemptAt: next } = look;
  const title = (
    <>
      {type}/{subType} <Status of={status} />
    </>
  );
  return (
    <>
      <Panel heading="h1" title={title}>
        <p className="facts">
          Delivery <Id id={deliveryId} what="the delivery's id" /> · of <MerchantName id={merchantId} />
        </p>
        <p>
          <Sentence text={look.explanation} />
          {next === null ? null : (
            <>
              {' '}
              Next attempt <Countdown to={next} />.
            </>
          )}
        </p>
        <p>
          <Way to={`/events/${eventId}`}>The event and its other endpoints</Way>
        </p>
      </Panel>
      <Panel title="Attempts">
        <Table
          label="Attempts"
          none="None was made yet."
          rows={look.attempts}
          keyOf={({ startedAt }) => startedAt}
          columns={[
            ['Attempt', ({ number }) => number],
            ['Started', ({ startedAt }) => <Time at={startedAt} digits="milliseconds" />],
            ['Took', ({ durationMs }) => formatDuration(durationMs)],
            [
              'Answer',
              ({ responseStatus, failureCode, failureDetail }) => (
                <>
                  <Outcome tone={failureCode === null ? 'good' : 'bad'}>
                    {responseStatus ?? failureCode}
                  </Outcome>
                  <div className="note">{foreign(failureDetail ?? '')}</div>
                </>
              ),
            ],
          ]}
        />
      </Panel>
    </>
  );
}
