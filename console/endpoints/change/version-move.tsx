import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { typeDifferences } from '../../../services/domain/versions/version-differences.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Loading } from '../../parts/loading.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
import { bothVersionsQuery, owedQuery, type TwoBodies } from '../endpoint-reads.ts';
import { updateEndpoint, useChange } from './changes.ts';
import { Confirm } from './confirm.tsx';
import { SideBySide } from './side-by-side.tsx';

const [OLDER, NEWER] = API_VERSIONS;

/** Moves an endpoint to the other version, with the merchant's own last events in both. */
export function VersionMove({ endpoint }: { readonly endpoint: Endpoint }) {
  const isOlder = endpoint.api_version === OLDER;
  const other = isOlder ? NEWER : OLDER;
  const { data: owed } = useQuery(owedQuery(endpoint.uuid));
  const change = useChange((version: ApiVersion) => updateEndpoint(endpoint.uuid, { api_version: version }));
  const { mutate, isPending, error, data } = change;
  const readOnly = useReadOnly();
  const waiting = owed?.waiting.length ?? 0;
  return (
    <>
      <section className="panel">
        <h2>Its webhooks are of version {endpoint.api_version}</h2>
        <p className="note">
          The envelope, the headers, the signature and the retries are the same in both versions.{' '}
          <a href="/docs/guides/move-to-2.3.8" target="_blank" rel="noreferrer">
            Every difference
          </a>
        </p>
        {readOnly === undefined ? null : <p className="note">{readOnly}</p>}
        <Confirm
          does={`Move to ${other}`}
          isPending={isPending}
          whyNot={readOnly}
          onConfirm={() => mutate(other)}
        >
          <ul>
            <li>
              Events from now on are written in {other}. None is lost: the change is in force between two
              events.
            </li>
            <li>
              {waiting === 0
                ? 'No delivery waits.'
                : `What waits for a retry (${waiting}${owed?.hasMore ? ' or more' : ''}) keeps its body of ${endpoint.api_version}.`}
            </li>
            <Types isOlder={isOlder} filter={endpoint.subscribed_events} />
            <li>You can go back at any time.</li>
          </ul>
        </Confirm>
        <p role="status">{data === undefined ? '' : `It is in force: version ${data.api_version}.`}</p>
        {error ? <ErrorPanel error={error} /> : null}
      </section>
      <Compared />
    </>
  );
}

/** The types that the endpoint gets or loses with the other version. */
function Types({
  isOlder,
  filter,
}: {
  readonly isOlder: boolean;
  readonly filter: Endpoint['subscribed_events'];
}) {
  const differing = typeDifferences(OLDER, NEWER)
    .filter(({ type }) => filter?.includes(type) ?? true)
    .map(({ type, older, newer }) => {
      const only = newer.filter((subType) => !older.includes(subType));
      return older.length === 0 ? type : `${type}/${only.join(', ')}`;
    });
  if (differing.length === 0) return null;
  return (
    <li>
      {isOlder ? 'It also gets' : 'It no longer gets'}: {differing.join(' · ')}
    </li>
  );
}

/** The merchant's last events in both versions. */
function Compared() {
  const { data, error, refetch } = useQuery(bothVersionsQuery);
  const [chosen, setChosen] = useState<string>();
  const shown = data?.find(({ event }) => event.event_uuid === chosen) ?? data?.find(differs) ?? data?.[0];
  return (
    <section className="panel">
      <h2>Your last events in both versions</h2>
      {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
      {data === undefined ? error ? null : <Loading /> : null}
      {data?.length === 0 ? (
        <p>There was no event so far. When one comes, it is shown here in both versions.</p>
      ) : null}
      {shown === undefined ? null : (
        <>
          <label className="field">
            <span>Event</span>
            <select value={shown.event.event_uuid} onChange={({ target }) => setChosen(target.value)}>
              {data?.map((each) => (
                <option key={each.event.event_uuid} value={each.event.event_uuid}>
                  {labelOf(each)}
                </option>
              ))}
            </select>
          </label>
          <SideBySide key={shown.event.event_uuid} bodies={shown} />
        </>
      )}
    </section>
  );
}

const time = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/** Returns whether the older version has the event, and the newer one writes it differently. */
function differs({ older, newer }: TwoBodies): boolean {
  return older !== null && older !== newer;
}

function labelOf(bodies: TwoBodies): string {
  const { event, older } = bodies;
  const says = older === null ? `only in ${NEWER}` : differs(bodies) ? 'differs' : 'the same';
  return `${event.type}/${event.subType} · ${says} · ${time.format(new Date(event.occurred_at))}`;
}
