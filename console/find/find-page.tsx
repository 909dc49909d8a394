import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { eventQuery, lookUpQuery } from '../api/reads.ts';
import type { EventDetail, LookUp } from '../api/shapes.ts';
import { DeliveryLink, EndpointName } from '../parts/endpoint.tsx';
import { JsonText } from '../parts/json-text.tsx';
import { Pairs, Panel, Screen, Shown, useTitle } from '../parts/screen.tsx';
import { Status } from '../parts/text.tsx';
import { EventScreen } from './event-screen.tsx';
import { FoundThings } from './found-things.tsx';

const EXAMPLES = [
  {
    name: 'A transaction, an account, a user',
    says: 'everything that happened to it, and what each endpoint has of it',
  },
  { name: 'An event', says: 'which endpoints got it, and why the others did not' },
  { name: 'A delivery', says: 'each attempt: what was sent, and what your server answered' },
  { name: 'An endpoint, a replay, a request id', says: 'what it is' },
];

/** The screen before anything is looked up. */
export function FindPage() {
  return (
    <Screen title="Find">
      <p>Paste any id that you have met into the field above, and press Enter.</p>
      <Pairs all={EXAMPLES} />
    </Screen>
  );
}

/** Lists the things that have an id. When there is one, and it has a screen, opens that screen. */
export function FoundPage() {
  const { id } = useParams({ from: '/find/$id' });
  useTitle(`Find ${id}`);
  const query = useQuery(lookUpQuery(id));
  return <Shown query={query}>{({ found }) => <FoundThings id={id} things={found.map(thingOf)} />}</Shown>;
}

type Found = LookUp['found'][number];

/** A thing that has no screen is named by its path of the API. */
function thingOf({ kind, summary: says, path }: Found) {
  const place = placeOf(path);
  return { kind, says, place, more: place === undefined ? <code>GET {path}</code> : null };
}

const SCREENS = /^\/((subjects|events|endpoints)\/[^/?]+|endpoints\/[^/?]+\/deliveries\/[^/?]+)$/;

/** Returns the address of the screen for a resource of the API; undefined for one that has no screen. */
function placeOf(path: string): string | undefined {
  const place = path.replace(/^\/merchant\/(webhook-)?/, '/');
  return SCREENS.test(place) ? place : undefined;
}

/** One event: which endpoints got it. */
export function EventPage() {
  const { id } = useParams({ from: '/events/$id' });
  const query = useQuery(eventQuery(id));
  useTitle(query.data ? `${query.data.type}/${query.data.subType}` : 'Event');
  return (
    <Shown query={query}>
      {(event) => (
        <EventScreen
          {...{ id, line, endpoints: event.endpoints, subject: event.subject_uuid }}
          name={`${event.type}/${event.subType}`}
          occurredAt={event.occurred_at}
          facts={event.simulated ? ' · simulated' : null}
        >
          <Panel title="Body">
            {event.body === null ? <p>The body is no longer kept.</p> : <JsonText text={event.body} />}
          </Panel>
        </EventScreen>
      )}
    </Shown>
  );
}

function line({ endpoint_uuid: endpoint, delivery_uuid: id, ...line }: EventDetail['endpoints'][number]) {
  return (
    <li key={`${endpoint} ${id}`}>
      <EndpointName uuid={endpoint} />
      <Status of={line.status ?? line.verdict} />
      {id === null ? null : <DeliveryLink {...{ endpoint, id }}>Delivery</DeliveryLink>}
    </li>
  );
}
