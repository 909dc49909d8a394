import { labelOf } from '../../parts/endpoint-name.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Id } from '../../parts/id.tsx';
import { inWords, Outcome, toneOf } from '../../parts/outcome.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { shortId } from '../../parts/short-id.ts';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { useId } from '../parts/address.ts';
import { MerchantName } from '../parts/names.tsx';
import { Way } from '../parts/way.tsx';
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
  const { kind, state, subjectId, merchantId, held, hasMore, events, quarantine, endpoints } = story;
  const nameOf = (endpointId: string) => {
    const url = endpoints.find((each) => each.endpointId === endpointId)?.url;
    return url ? labelOf({ description: '', url }) : `${shortId(endpointId)} (deleted)`;
  };
  return (
    <section className="panel">
      <h1>
        <span className="kind">{inWords(kind)}</span> {state ?? shortId(subjectId)}
      </h1>
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
              <Way to={`/events/${event.eventId}`}>
                {event.type}/{event.subType}
              </Way>
            </h2>
            <ul className="fates">
              {event.endpoints.map((line) => (
                <li key={line.endpointId ?? 'none'}>
                  <span className="name">
                    <Foreign text={line.endpointId === null ? 'no endpoint' : nameOf(line.endpointId)} />
                  </span>
                  <Outcome tone={toneOf(line.outcome)}>{inWords(line.outcome)}</Outcome>
                  <p>
                    <Sentence text={line.explanation} />
                  </p>
                  <p className="deliveries">
                    {line.deliveries.map(({ deliveryId, status, attemptsMade }) => (
                      <Way key={deliveryId} to={`/deliveries/${deliveryId}`}>
                        Delivery {shortId(deliveryId)}, {inWords(status)} after {attemptsMade}{' '}
                        {attemptsMade === 1 ? 'attempt' : 'attempts'}
                      </Way>
                    ))}
                  </p>
                </li>
              ))}
            </ul>
          </li>
        ))}
        {quarantine.events.map(({ at, eventId, type, subType, title, detail, remedy }) => (
          <li key={`${at} ${eventId}`}>
            <h2>
              <Time at={at} />{' '}
              <Foreign text={`${type ?? 'An event'}${subType === null ? '' : `/${subType}`}`} />
            </h2>
            <p>
              <Outcome tone="bad">in quarantine</Outcome> <Sentence text={title} />
            </p>
            <p>
              <Foreign text={detail} />
            </p>
            <p>
              <Sentence text={remedy} /> <Way to="/quarantine">Quarantine</Way>
            </p>
          </li>
        ))}
      </ol>
      {quarantine.searched === 'none' ? (
        <p className="warning">The quarantine could not be looked through.</p>
      ) : null}
    </section>
  );
}
