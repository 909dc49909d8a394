import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { storyQuery } from '../api/reads.ts';
import type { Story, StoryEvent } from '../api/shapes.ts';
import { CsvButton } from '../exports/csv-button.tsx';
import { Id } from '../parts/controls.tsx';
import { Facts, Panel, Shown, useTitle } from '../parts/screen.tsx';
import { foreign, Outcome, Sentence, Time } from '../parts/text.tsx';
import { inWords, shortId } from '../parts/words.ts';
import { Endpoints } from './endpoint-counts.tsx';
import { MachineGraph } from './machine-graph.tsx';
import { StoryEvents } from './story-events.tsx';

/** Everything about a transaction, an account or a user: what happened, and what each endpoint has of it. */
export function StoryPage() {
  const { id } = useParams({ from: '/subjects/$id' });
  const query = useQuery(storyQuery(id));
  useTitle(query.data ? `${inWords(query.data.kind)} ${shortId(id)}` : 'Story');
  return <Shown query={query}>{(story) => <Told story={story} />}</Shown>;
}

function Told({ story }: { readonly story: Story }) {
  const { kind, state, subject_uuid: subject, entity_uuid: entity, events, has_more: hasMore } = story;
  // The story of a user has what happened to its transactions and accounts.
  const isEntity = entity === subject;
  const query = isEntity ? { entity_uuid: subject } : { subject_uuid: subject };
  return (
    <>
      <Panel heading="h1" kind={inWords(kind)} title={state ?? shortId(subject)}>
        <Facts>
          <Id id={subject} what="the id" />
          {entity === null || isEntity ? null : (
            <>
              of{' '}
              <Link to="/subjects/$id" params={{ id: entity }}>
                user {shortId(entity)}
              </Link>
            </>
          )}
        </Facts>
        {story.held ? (
          <p className="warning">
            The operator holds your deliveries back. They are sent when the hold ends.
          </p>
        ) : null}
        <Machines events={events} />
        <CsvButton what={`${kind} ${subject}`} lists={{ deliveries: [query], events: [query] }} />
      </Panel>
      <Quarantined quarantine={story.quarantine} />
      <Endpoints endpoints={story.endpoints} />
      <StoryEvents {...{ events, subject }} note={hasMore && <Older query={query} />} />
    </>
  );
}

/** Says how the API lists all events of a story. */
function Older({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const [[name, id] = ['', '']] = Object.entries(query);
  return (
    <p className="note">
      These are the newest. All: <code>{`GET /merchant/events?${name}=${visible(id)}`}</code>
    </p>
  );
}

/** The machine of each type of which all events are about one thing: elsewhere the states of several would mix. */
function Machines({ events }: { readonly events: readonly StoryEvent[] }) {
  const types = [...new Set(events.map(({ type }): string => type))];
  return types.flatMap((type) => {
    const ofType = events.filter((event) => event.type === type);
    const table = MACHINES[type];
    const isOne = new Set(ofType.map(({ subject_uuid }) => subject_uuid)).size === 1;
    const reached = ofType.flatMap(({ state }) => state ?? []);
    return table && isOne && reached.length > 0
      ? [<MachineGraph key={type} type={type} table={table} reached={reached} />]
      : [];
  });
}

/** Events that could not be routed: no endpoint gets them before the platform has corrected the fault. */
function Quarantined({ quarantine }: { readonly quarantine: Story['quarantine'] }) {
  const { events, note } = quarantine;
  if (events.length === 0 && note === null) return null;
  return (
    <Panel title="Quarantine">
      {note === null ? null : (
        <p className="note">
          <Sentence text={note} />
        </p>
      )}
      <ul className="lines">
        {events.map((event) => (
          <li key={`${event.event_uuid} ${event.quarantined_at}`}>
            <span>
              <Time at={event.quarantined_at} />{' '}
              {foreign([event.type, event.subType].filter((part) => part !== null).join('/'))}
            </span>
            <Outcome tone="bad">{inWords(event.reason)}</Outcome>
            <p>
              <Sentence text={event.explanation} />
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
