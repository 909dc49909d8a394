import { Link } from '@tanstack/react-router';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { Delivery, StoryEvent } from '../api/shapes.ts';
import { DeliveryLink, EndpointName } from '../parts/endpoint.tsx';
import { Panel } from '../parts/screen.tsx';
import { Outcome, Sentence, Time, toneOf } from '../parts/text.tsx';
import { counted, inWords, shortId } from '../parts/words.ts';

interface Props {
  readonly events: readonly StoryEvent[];
  readonly hasMore: boolean;
  readonly subject: string;
  /** Whether the subject is a user or a corporate, which the API finds by another parameter. */
  readonly isEntity: boolean;
}

/** The events, oldest first, and below each what became of it for each endpoint. */
export function StoryEvents({ events, hasMore, subject, isEntity }: Props) {
  return (
    <Panel title={counted(events.length, 'event')}>
      {hasMore ? (
        <p className="note">
          These are the newest. All:{' '}
          <code>{`GET /merchant/events?${isEntity ? 'entity' : 'subject'}_uuid=${visible(subject)}`}</code>
        </p>
      ) : null}
      <ol className="story">
        {events.map((event) => (
          <li key={event.event_uuid}>
            <h3>
              <Time at={event.occurred_at} />
              <Link to="/events/$id" params={{ id: event.event_uuid }}>
                {event.type}/{event.subType}
              </Link>
              {event.subject_uuid === subject ? null : (
                <Link className="note" to="/subjects/$id" params={{ id: event.subject_uuid }}>
                  {shortId(event.subject_uuid)}
                </Link>
              )}
              {event.simulated ? <span className="chip">simulated</span> : null}
            </h3>
            <ul className="fates">
              {event.endpoints.map((line) => (
                <Fate key={line.endpoint_uuid ?? 'none'} line={line} />
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** The merchant chose it: a filter, or the API version of the endpoint. */
const CHOSEN = ['filtered', 'type_not_in_api_version', 'subtype_not_in_api_version'];

function Fate({ line }: { readonly line: StoryEvent['endpoints'][number] }) {
  const { endpoint_uuid: endpoint, outcome, explanation, deliveries, verdict } = line;
  const tone = CHOSEN.includes(verdict) ? 'none' : toneOf(outcome);
  return (
    <li>
      <span className="name">{endpoint === null ? 'no endpoint' : <EndpointName uuid={endpoint} />}</span>
      <Outcome tone={tone}>{inWords(outcome)}</Outcome>
      <p>
        <Sentence text={explanation} />
      </p>
      {deliveries.length === 0 ? null : (
        <p className="row deliveries">
          {deliveries.map((delivery) => (
            <Sent key={delivery.delivery_uuid} delivery={delivery} />
          ))}
        </p>
      )}
    </li>
  );
}

const TRIGGERS: Readonly<Record<string, string>> = {
  ...{ live: 'Delivery', manual: 'Resend', replay: 'Replay', test: 'Test' },
};

function Sent({ delivery }: { readonly delivery: Delivery }) {
  const { endpoint_uuid: endpoint, delivery_uuid: id, trigger, attempts_made: made, status } = delivery;
  return (
    <DeliveryLink endpoint={endpoint} id={id}>
      {TRIGGERS[trigger] ?? trigger} {shortId(id)}, {inWords(status)} after {counted(made, 'attempt')}
    </DeliveryLink>
  );
}
