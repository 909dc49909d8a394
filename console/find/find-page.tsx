import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { eventQuery, lookUpQuery } from '../api/reads.ts';
import { Id } from '../parts/controls.tsx';
import { DeliveryLink, EndpointName } from '../parts/endpoint.tsx';
import { JsonText } from '../parts/json-text.tsx';
import { Pairs, Panel, Screen, Shown, useTitle } from '../parts/screen.tsx';
import { foreign, Sentence, Status, Time } from '../parts/text.tsx';
import { inWords } from '../parts/words.ts';

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
  return (
    <Shown query={query}>
      {({ found }) => {
        const [first, ...others] = found;
        const only = others.length === 0 && first ? placeOf(first.path) : undefined;
        if (only) return <Navigate {...only} replace />;
        return (
          <Panel heading="h1" title={<code>{foreign(id)}</code>}>
            <ul className="found">
              {found.map(({ kind, summary, path }) => (
                <li key={path}>
                  <span className="chip">{inWords(kind)}</span> <Sentence text={summary} />{' '}
                  <Way path={path} />
                </li>
              ))}
            </ul>
          </Panel>
        );
      }}
    </Shown>
  );
}

function Way({ path }: { readonly path: string }) {
  const place = placeOf(path);
  return place === undefined ? <code>GET {path}</code> : <Link {...place}>Show</Link>;
}

const PLACES: readonly (readonly [path: RegExp, place: (ids: readonly string[]) => Place])[] = [
  [/^\/merchant\/subjects\/([^/]+)$/, ([id = '']) => ({ to: '/subjects/$id', params: { id } })],
  [/^\/merchant\/events\/([^/?]+)$/, ([id = '']) => ({ to: '/events/$id', params: { id } })],
  [
    /^\/merchant\/webhook-endpoints\/([^/]+)$/,
    ([endpoint = '']) => ({ to: '/endpoints/$endpoint', params: { endpoint } }),
  ],
  [
    /^\/merchant\/webhook-endpoints\/([^/]+)\/deliveries\/([^/]+)$/,
    ([endpoint = '', id = '']) => ({ to: '/endpoints/$endpoint/deliveries/$id', params: { endpoint, id } }),
  ],
];

type Place =
  | { readonly to: '/subjects/$id' | '/events/$id'; readonly params: { readonly id: string } }
  | { readonly to: '/endpoints/$endpoint'; readonly params: { readonly endpoint: string } }
  | {
      readonly to: '/endpoints/$endpoint/deliveries/$id';
      readonly params: { readonly endpoint: string; readonly id: string };
    };

/** Returns the screen for a resource of the API; undefined for one that has no screen. */
function placeOf(path: string): Place | undefined {
  for (const [pattern, place] of PLACES) {
    const found = pattern.exec(path);
    if (found) return place(found.slice(1).map(decodeURIComponent));
  }
  return undefined;
}

/** One event: which endpoints got it. */
export function EventPage() {
  const { id } = useParams({ from: '/events/$id' });
  const query = useQuery(eventQuery(id));
  useTitle(query.data ? `${query.data.type}/${query.data.subType}` : 'Event');
  return (
    <Shown query={query}>
      {(event) => (
        <>
          <Panel heading="h1" title={`${event.type}/${event.subType}`}>
            <p className="facts">
              Event <Id id={id} what="the event's id" /> · occurred <Time at={event.occurred_at} />
              {event.simulated ? ' · simulated' : ''}
            </p>
            <p>
              <Link to="/subjects/$id" params={{ id: event.subject_uuid }}>
                The whole story of what it is about
              </Link>
            </p>
          </Panel>
          <Panel title="Endpoints">
            {event.endpoints.length === 0 ? <p>There was no endpoint when the event was accepted.</p> : null}
            <ul className="lines">
              {event.endpoints.map(
                ({ endpoint_uuid: endpoint, verdict, delivery_uuid: delivery, status }) => (
                  <li key={`${endpoint} ${delivery}`}>
                    <EndpointName uuid={endpoint} />
                    <Status of={status ?? verdict} />
                    {delivery === null ? null : (
                      <DeliveryLink endpoint={endpoint} id={delivery}>
                        Delivery
                      </DeliveryLink>
                    )}
                  </li>
                ),
              )}
            </ul>
          </Panel>
          <Panel title="Body">
            {event.body === null ? <p>The body is no longer kept.</p> : <JsonText text={event.body} />}
          </Panel>
        </>
      )}
    </Shown>
  );
}
