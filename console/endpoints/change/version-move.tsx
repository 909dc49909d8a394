import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { typeDifferences } from '../../../services/domain/versions/version-differences.ts';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Field } from '../../parts/controls.tsx';
import { Differences } from '../../parts/differences.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { ErrorPanel, Panel, Shown } from '../../parts/screen.tsx';
import { bothVersionsQuery, owedQuery, type TwoBodies } from '../endpoint-reads.ts';
import { waitingWords } from '../verdict.tsx';
import { updateEndpoint, useChange } from './changes.ts';
import { Confirm } from './confirm.tsx';

const [OLDER, NEWER] = API_VERSIONS;

/** Moves an endpoint to the other version, with the merchant's own last events in both. */
export function VersionMove({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid, api_version: version, subscribed_events: filter } = endpoint;
  const isOlder = version === OLDER;
  const other = isOlder ? NEWER : OLDER;
  const { data: owed } = useQuery(owedQuery(uuid));
  const { mutate, isPending, error, data } = useChange((to: ApiVersion) =>
    updateEndpoint(uuid, { api_version: to }),
  );
  const readOnly = useReadOnly();
  const query = useQuery(bothVersionsQuery);
  return (
    <>
      <Panel title={`Its webhooks are of version ${version}`}>
        <p className="note">
          The envelope, the headers, the signature and the retries are the same in both versions.{' '}
          <a href="/docs/guides/move-to-2.3.8" target="_blank" rel="noreferrer">
            Every difference
          </a>
        </p>
        {readOnly === undefined ? null : <p className="note">{readOnly}</p>}
        <Confirm
          {...{ isPending, whyNot: readOnly }}
          does={`Move to ${other}`}
          onConfirm={() => mutate(other)}
        >
          <ul>
            <li>
              Events from now on are written in {other}. None is lost: the change is in force between two
              events.
            </li>
            <li>
              What waits for a retry keeps its body of {version}: {waitingWords(owed)}.
            </li>
            <li>
              {isOlder ? 'It also gets' : 'It no longer gets'}: {onlyNewer(filter)}.
            </li>
            <li>You can go back at any time.</li>
          </ul>
        </Confirm>
        <p role="status">{data && `It is in force: version ${data.api_version}.`}</p>
        <ErrorPanel error={error} />
      </Panel>
      <Panel title="Your last events in both versions">
        <Shown query={query}>{(events) => <Compared events={events} />}</Shown>
      </Panel>
    </>
  );
}

/** Returns the types and subTypes, of those that a filter lets through, that only the newer version has. */
function onlyNewer(filter: Endpoint['subscribed_events']): string {
  const differing = typeDifferences(OLDER, NEWER)
    .filter(({ type }) => filter?.includes(type) ?? true)
    .map(({ type, older, newer }) => {
      const only = newer.filter((subType) => !older.includes(subType));
      return older.length === 0 ? type : `${type}/${only.join(', ')}`;
    });
  return differing.length === 0 ? 'nothing' : differing.join(' · ');
}

function Compared({ events }: { readonly events: readonly TwoBodies[] }) {
  const [chosen, setChosen] = useState<string>();
  const shown = events.find(({ event }) => event.event_uuid === chosen) ?? events.find(differs) ?? events[0];
  if (shown === undefined)
    return <p>There was no event so far. When one comes, it is shown here in both versions.</p>;
  const id = shown.event.event_uuid;
  const { older, newer } = shown;
  const options = events.map((each) => [each.event.event_uuid, labelOf(each)] as const);
  return (
    <>
      <Field label="Event" value={id} options={options} onChange={setChosen} />
      {older === null ? (
        <>
          <p>
            {OLDER} does not have this event: an endpoint of {OLDER} is not sent it.
          </p>
          <JsonText key={id} text={newer} what={`the body in ${NEWER}`} />
        </>
      ) : (
        <Differences {...{ older, newer }} />
      )}
    </>
  );
}

const STYLE = { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' } as const;
const time = new Intl.DateTimeFormat(undefined, STYLE);

/** Returns whether the older version has the event, and the newer one writes it differently. */
const differs = ({ older, newer }: TwoBodies) => older !== null && older !== newer;

function labelOf(bodies: TwoBodies): string {
  const { event, older } = bodies;
  const says = older === null ? `only in ${NEWER}` : differs(bodies) ? 'differs' : 'the same';
  return `${event.type}/${event.subType} · ${says} · ${time.format(new Date(event.occurred_at))}`;
}
