import { Id } from '../../parts/controls.tsx';
import { labelOf } from '../../parts/endpoint.tsx';
import { Panel, Shown, useTitle, Way } from '../../parts/screen.tsx';
import { foreign, Outcome, Sentence, Time } from '../../parts/text.tsx';
import { inWords, shortId } from '../../parts/words.ts';
import { Endpoints } from '../../story/endpoint-counts.tsx';
import { StoryEvents } from '../../story/story-events.tsx';
import { useCommand, useId } from '../api.ts';
import { asApi } from '../as-api.ts';
import { MerchantName } from '../names.tsx';
import type { Story } from '../shapes.ts';

const EVERY_MS = 5000;

/** The story of a transaction, an account or a user, as its merchant reads it. */
export function StoryPage() {
  const id = useId();
  useTitle(`Story ${shortId(id)}`);
  const stories = useCommand('story', { id }, EVERY_MS);
  return (
    <Shown query={stories}>
      {(list) => list.map((story) => <OneStory key={story.merchantId} story={story} />)}
    </Shown>
  );
}

function OneStory({ story }: { readonly story: Story }) {
  const told = asApi(story);
  const { kind, state, subject_uuid: subject, merchant_uuid: merchant, endpoints, quarantine } = told;
  const nameOf = (uuid: string) => {
    const url = endpoints.find(({ endpoint_uuid: one }) => one === uuid)?.url;
    return url ? labelOf({ description: '', url }) : `${shortId(uuid)} (deleted)`;
  };
  return (
    <>
      <Panel heading="h1" kind={inWords(kind)} title={state ?? shortId(subject)}>
        <p className="facts">
          <Id id={subject} what="the id" /> · of <MerchantName id={merchant} />
        </p>
        {told.held ? (
          <p className="warning">The merchant is on hold: its deliveries wait until it is resumed.</p>
        ) : null}
        <ol className="story">
          {story.quarantine.events.map((event) => (
            <Quarantined key={`${event.at} ${event.eventId}`} event={event} />
          ))}
        </ol>
        {quarantine.searched === 'none' ? (
          <p className="warning">The quarantine could not be searched.</p>
        ) : null}
      </Panel>
      <Endpoints endpoints={endpoints} />
      <StoryEvents
        {...{ subject, nameOf }}
        events={told.events}
        note={told.has_more && <p className="note">These are the newest events.</p>}
        deliveryAt={(id) => `/deliveries/${id}`}
      />
    </>
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
