import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Endpoint } from '../api/shapes.ts';
import { Copy } from '../parts/copy.tsx';
import { labelOf } from '../parts/endpoint-name.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Id } from '../parts/id.tsx';
import { Loading } from '../parts/loading.tsx';
import { endpointsNowQuery } from './endpoint-reads.ts';

export const PARTS = {
  test: 'Test',
  settings: 'Settings',
  version: 'Version',
  secret: 'Secret',
} as const;
export type PartName = keyof typeof PARTS;

interface Props {
  readonly uuid: string;
  readonly children: (endpoint: Endpoint) => ReactNode;
}

/** The head of an endpoint with the ways to its parts, and one of these. */
export function EndpointFrame({ uuid, children }: Props) {
  const { data, error, refetch } = useQuery(endpointsNowQuery);
  const endpoint = data?.find((one) => one.uuid === uuid);
  if (data === undefined)
    return error ? <ErrorPanel error={error} retry={() => void refetch()} /> : <Loading />;
  if (endpoint === undefined) return <Gone uuid={uuid} />;
  return (
    <>
      <section className="panel">
        <h1>
          <Foreign text={labelOf(endpoint)} /> <span className="chip">{endpoint.api_version}</span>{' '}
          <span className="chip">{filterOf(endpoint)}</span>
        </h1>
        <p className="facts">
          <Foreign text={endpoint.url} /> <Copy text={endpoint.url} what="the URL" /> · endpoint{' '}
          <Id id={uuid} what="the endpoint's id" />
        </p>
        {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
        <nav className="tabs" aria-label="Parts of the endpoint">
          <Link to="/endpoints/$endpoint" params={{ endpoint: uuid }} activeOptions={{ exact: true }}>
            Health
          </Link>
          {Object.entries(PARTS).map(([part, says]) => (
            <Link key={part} to="/endpoints/$endpoint/$part" params={{ endpoint: uuid, part }}>
              {says}
            </Link>
          ))}
        </nav>
      </section>
      {children(endpoint)}
    </>
  );
}

/** Returns which types an endpoint gets, in a word or two. */
export function filterOf({ subscribed_events: types }: Endpoint): string {
  if (types === null) return 'all types';
  return types.length === 1 ? `only ${types[0]}` : `${types.length} types`;
}

function Gone({ uuid }: { readonly uuid: string }) {
  return (
    <section className="panel">
      <h1>You have no endpoint with this id</h1>
      <p>
        <code>{uuid}</code> was deleted, or the address is cut off. What was sent to it is in{' '}
        <Link to="/live" search={{ endpoint: uuid }}>
          Live
        </Link>
        ; all others are in <Link to="/endpoints">Endpoints</Link>.
      </p>
    </section>
  );
}
