import { formatDuration } from '../../../client/duration.ts';
import { EventScreen } from '../../find/event-screen.tsx';
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
  const event = useCommand('events-get', { id }, EVERY_MS);
  return (
    <Shown query={event}>
      {({ merchantId, type, subType, subjectId, occurredAt, publishedBy, endpoints }) => (
        <EventScreen
          {...{ id, line, endpoints, occurredAt, subject: subjectId, name: `${type}/${subType}` }}
          facts={
            <>
              {' · of '}
              <MerchantName id={merchantId} /> · published by <ProducerName publishedBy={publishedBy} />
            </>
          }
        />
      )}
    </Shown>
  );
}

function line({ endpointId, verdict, ...sent }: EventLook['endpoints'][number]) {
  return (
    <li key={endpointId}>
      <Way to="/deliveries" search={{ endpoint: endpointId }} title={endpointId}>
        {shortId(endpointId)}
      </Way>
      <span>{verdict === 'delivered_to' ? 'has a delivery' : inWords(verdict)}</span>
      {'deliveryId' in sent ? <Way to={`/deliveries/${sent.deliveryId}`}>Show it</Way> : null}
    </li>
  );
}

/** One delivery: each attempt, and why it has not arrived. */
export function DeliveryPage() {
  const id = useId();
  useTitle(`Delivery ${shortId(id)}`);
  const delivery = useCommand('deliveries-get', { id }, EVERY_MS);
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
          columns={{
            attempt: ({ number }) => number,
            started: ({ startedAt }) => <Time at={startedAt} digits="milliseconds" />,
            took: ({ durationMs }) => formatDuration(durationMs),
            answer: ({ responseStatus, failureCode, failureDetail }) => (
              <>
                <Outcome tone={failureCode === null ? 'good' : 'bad'}>
                  {responseStatus ?? failureCode}
                </Outcome>
                <div className="note">{foreign(failureDetail ?? '')}</div>
              </>
            ),
          }}
        />
      </Panel>
    </>
  );
}
