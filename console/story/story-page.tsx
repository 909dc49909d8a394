import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { storyQuery } from '../api/reads.ts';
import type { Story, StoryEvent } from '../api/shapes.ts';
import { CsvButton } from '../exports/csv-button.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Id } from '../parts/id.tsx';
import { Loading } from '../parts/loading.tsx';
import { inWords, Outcome, toneOf } from '../parts/outcome.tsx';
import { shortId } from '../parts/short-id.ts';
import { Countdown } from '../parts/time.tsx';
import { useTitle } from '../parts/title.ts';
import { MachineGraph } from './machine-graph.tsx';
import { Quarantined } from './quarantined.tsx';
import { StoryEvents } from './story-events.tsx';

/** Everything about a transaction, an account or a user: what happened, and what each endpoint has of it. */
export function StoryPage() {
  const { id } = useParams({ from: '/subjects/$id' });
  const { data: story, error, refetch } = useQuery(storyQuery(id));
  useTitle(story ? `${inWords(story.kind)} ${shortId(id)}` : 'Story');
  if (story === undefined)
    return error ? <ErrorPanel error={error} retry={() => void refetch()} /> : <Loading />;
  // The story of a user has what happened to its transactions and accounts.
  const isEntity = story.entity_uuid === story.subject_uuid;
  const query = isEntity ? { entity_uuid: story.subject_uuid } : { subject_uuid: story.subject_uuid };
  return (
    <>
      <section className="panel">
        <h1>
          <span className="kind">{inWords(story.kind)}</span> {story.state ?? shortId(id)}
        </h1>
        <p className="facts">
          <Id id={story.subject_uuid} what="the id" />
          {story.entity_uuid === null || isEntity ? null : (
            <>
              {' '}
              · of{' '}
              <Link to="/subjects/$id" params={{ id: story.entity_uuid }}>
                user {shortId(story.entity_uuid)}
              </Link>
            </>
          )}
        </p>
        {story.held ? (
          <p className="warning">
            The operator holds your deliveries back. They are sent when the hold ends.
          </p>
        ) : null}
        {error ? <ErrorPanel error={error} /> : null}
        <Machines events={story.events} />
        <CsvButton
          what={`${story.kind} ${story.subject_uuid}`}
          lists={{ deliveries: [query], events: [query] }}
        />
      </section>
      <Quarantined quarantine={story.quarantine} />
      <Endpoints endpoints={story.endpoints} />
      <StoryEvents
        events={story.events}
        hasMore={story.has_more}
        subject={story.subject_uuid}
        isEntity={isEntity}
      />
    </>
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

function Endpoints({ endpoints }: { readonly endpoints: Story['endpoints'] }) {
  if (endpoints.length === 0) return null;
  return (
    <section className="panel">
      <h2>Endpoints</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section className="scroll" tabIndex={0} aria-label="Counts per endpoint">
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col" className="number">
                Received
              </th>
              <th scope="col" className="number">
                Owed
              </th>
              <th scope="col" className="number">
                Not received
              </th>
              <th scope="col">Next attempt</th>
              <th scope="col">Status now</th>
            </tr>
          </thead>
          <tbody>
            {endpoints.map((endpoint) => (
              <tr key={endpoint.endpoint_uuid}>
                <th scope="row" title={endpoint.url ?? undefined}>
                  <Foreign
                    text={
                      endpoint.description || endpoint.url || `${shortId(endpoint.endpoint_uuid)} (deleted)`
                    }
                  />
                </th>
                <td className="number">{endpoint.received}</td>
                <td className={endpoint.owed > 0 ? 'number waits' : 'number'}>{endpoint.owed}</td>
                <td className={endpoint.not_received > 0 ? 'number strong' : 'number'}>
                  {endpoint.not_received}
                </td>
                <td>
                  {endpoint.next_attempt_at === null ? '–' : <Countdown to={endpoint.next_attempt_at} />}
                </td>
                <td>
                  <Outcome tone={toneOf(endpoint.status ?? '')}>
                    {inWords(endpoint.status ?? 'deleted')}
                  </Outcome>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
