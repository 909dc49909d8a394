import { Id } from '../../parts/controls.tsx';
import { labelOf } from '../../parts/endpoint.tsx';
import { Panel, Shown, useTitle, Way } from '../../parts/screen.tsx';
import { foreign, Outcome, Sentence, Status, Time } from '../../parts/text.tsx';
import { counted, inWords, shortId } from '../../parts/words.ts';
import { useCommand, useId } from '../api.ts';
import { MerchantName } from '../names.tsx';
import type { Story } from '../shapes.ts';

const EVERY_MS = 5000;

/** The story of a transaction, an account or a user, as its merchant reads it. */
export function StoryPage() {
  const id = useId();
  useTitle(`Story ${shortId(id)}`);
  const stories = useCommand<readonly Story[]>('story', { id }, { everyMs: EVERY_MS });
  return (
    <Shown query={stories}>
      {(list) => list.map((story) => <OneStory key={story.merchantId} story={story} />)}
    </Shown>
  );
}

function OneStory({ story }: { readonly story: Story }) {
  const { kind, state, subjectId, merchantId, held, hasMore, events, quarantine } = story;
  return (
    <Panel heading="h1" kind={inWords(kind)} title={state ?? shortId(subjectId)}>
      <p className="facts">
        <Id id={subjectId} what="the id" /> · of <MerchantName id={merchantId} />
      </p>
      {held ? (
        <p className="warning">The merchant is on hold: its deliveries wait until it is resumed.</p>
      ) : null}
      {hasMore ? <p className="note">These are the newest events.</p> : null}
      <ol className="story">
        {events.map((event) => (
          <li key={event.eventId}>
            <h2>
              <Time at={event.occurredAt} />{' '}
              <Way to={`/events/${event.eventId}`}>{`${event.type}/${event.subType}`}</Way>
            </h2>
            <ul className="fates">
              {event.endpoints.map((line) => (
                <Fate key={line.endpointId ?? 'none'} line={line} story={story} />
              ))}
            </ul>
          </li>
        ))}
        {quarantine.events.map((event) => (
          <Quarantined key={`${event.at} ${event.eventId}`} event={event} />
        ))}
      </ol>
      {quarantine.searched === 'none' ? (
        <p className="warning">The quarantine could not be searched.</p>
      ) : null}
    </Panel>
  );
}

interface FateProps {
  readonly line: Story['events'][number]['endpoints'][number];
  readonly story: Story;
}

/** The outcome of an event at an endpoint, with its deliveries. */
function Fate({ line: { endpointId, outcome, explanation, deliveries }, story: { endpoints } }: FateProps) {
  const url = endpoints.find((each) => each.endpointId === endpointId)?.url;
  const name = url ? labelOf({ description: '', url }) : `${shortId(endpointId ?? '')} (deleted)`;
  return (
    <li>
      <span className="name">{foreign(endpointId === null ? 'no endpoint' : name)}</span>
      <Status of={outcome} />
      <p>
        <Sentence text={explanation} />
      </p>
      <p className="row deliveries">
        {deliveries.map(({ deliveryId, status, attemptsMade }) => (
          <Way key={deliveryId} to={`/deliveries/${deliveryId}`}>
            Delivery {shortId(deliveryId)}, {inWords(status)} after {counted(attemptsMade, 'attempt')}
          </Way>
        ))}
      </p>
    </li>
  );
}

/** An event that was not routed. */
function Quarantined({ event }: { readonly event: Story['quarantine']['events'][number] }) {
  const { at, type, subType, title, detail, remedy } = event;
  return (
    <li>
      <h2>
        <Time at={at} /> {foreign([type ?? 'An event', ...(subType === null ? [] : [subType])].join('/'))}
      </h2>
      <p>
        <Outcome tone="bad">in quarantine</Outcome> <Sentence text={title} />
      </p>
      <p>{foreign(detail)}</p>
      <p>
        <Sentence text={remedy} /> <Way to="/quarantine">Quarantine</Way>
      </p>
    </li>
  );
}
