import type { ReactNode } from 'react';
import type { Delivery, StoryEvent } from '../api/shapes.ts';
import { EndpointName } from '../parts/endpoint.tsx';
import { Panel, Way } from '../parts/screen.tsx';
import { Outcome, Sentence, Time, toneOf } from '../parts/text.tsx';
import { counted, inWords, shortId } from '../parts/words.ts';

type Fate = StoryEvent['endpoints'][number];
/** A delivery as both consoles know it; an operator's does not say why it was made. */
type Made = Pick<Delivery, 'delivery_uuid' | 'status' | 'attempts_made'> & Partial<Pick<Delivery, 'trigger'>>;
type Line = Omit<Fate, 'deliveries'> & { readonly deliveries: readonly Made[] };
/** An event of a story, as both consoles know it. */
type Told = Pick<StoryEvent, 'event_uuid' | 'occurred_at' | 'subType'> &
  Partial<Pick<StoryEvent, 'subject_uuid' | 'simulated'>> & {
    readonly type: string;
    readonly endpoints: readonly Line[];
  };

interface Props {
  readonly events: readonly Told[];
  readonly subject: string;
  /** Stands above the events where there are older ones. */
  readonly note?: ReactNode;
  readonly nameOf?: (endpoint: string) => ReactNode;
  /** Returns the address of a delivery's screen. */
  readonly deliveryAt?: (id: string, endpoint: string | null) => string;
}

const nameOfOwn = (endpoint: string) => <EndpointName uuid={endpoint} />;
const ownDeliveryAt = (id: string, endpoint: string | null) => `/endpoints/${endpoint}/deliveries/${id}`;

/** The events, oldest first, and below each what became of it for each endpoint. */
export function StoryEvents({ events, subject, note = null, ...props }: Props) {
  const { nameOf = nameOfOwn, deliveryAt = ownDeliveryAt } = props;
  return (
    <Panel title={counted(events.length, 'event')}>
      {note}
      <ol className="story">
        {events.map(({ event_uuid: id, occurred_at, type, subType, endpoints, ...event }) => (
          <li key={id}>
            <h3>
              <Time at={occurred_at} />
              <Way to={`/events/${id}`}>{`${type}/${subType}`}</Way>
              <Subject id={event.subject_uuid ?? subject} told={subject} />
              {event.simulated ? <span className="chip">simulated</span> : null}
            </h3>
            <ul className="fates">
              {endpoints.map(({ endpoint_uuid: endpoint, outcome, explanation, deliveries, verdict }) => (
                <li key={endpoint ?? 'none'}>
                  <span className="name">{endpoint === null ? 'no endpoint' : nameOf(endpoint)}</span>
                  <Outcome tone={CHOSEN.includes(verdict) ? 'none' : toneOf(outcome)}>
                    {inWords(outcome)}
                  </Outcome>
                  <p>
                    <Sentence text={explanation} />
                  </p>
                  <Deliveries all={deliveries} at={(made) => deliveryAt(made, endpoint)} />
                </li>
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

/** The thing that an event is about, where the story is that of a user. */
function Subject({ id, told }: { readonly id: string; readonly told: string }) {
  if (id === told) return null;
  return (
    <Way className="note" to={`/subjects/${encodeURIComponent(id)}`}>
      {shortId(id)}
    </Way>
  );
}

const TRIGGERS: Readonly<Record<string, string>> = {
  ...{ live: 'Delivery', manual: 'Resend', replay: 'Replay', test: 'Test' },
};

function Deliveries({ all, at }: { readonly all: readonly Made[]; readonly at: (id: string) => string }) {
  if (all.length === 0) return null;
  return (
    <p className="row deliveries">
      {all.map(({ delivery_uuid: id, trigger = 'live', attempts_made: made, status }) => (
        <Way key={id} to={at(id)}>
          {TRIGGERS[trigger] ?? trigger} {shortId(id)}, {inWords(status)} after {counted(made, 'attempt')}
        </Way>
      ))}
    </p>
  );
}
