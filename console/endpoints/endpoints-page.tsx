import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Endpoint } from '../api/shapes.ts';
import { EndpointLink, labelOf } from '../parts/endpoint.tsx';
import { Empty, Shown, useTitle } from '../parts/screen.tsx';
import { foreign } from '../parts/text.tsx';
import { endpointsNowQuery, type Owed, owedQuery } from './endpoint-reads.ts';
import { Sources } from './sources.tsx';
import { filterOf, Verdict } from './verdict.tsx';

/** All endpoints, each with whose fault it is when it gets nothing. */
export function EndpointsPage() {
  useTitle('Endpoints');
  const endpoints = useQuery(endpointsNowQuery);
  const owed = useQuery(owedQuery());
  return (
    <section className="panel">
      <div className="row apart">
        <h1>Endpoints</h1>
        <Link to="/endpoints/new" className="button primary">
          New endpoint
        </Link>
      </div>
      <Shown query={endpoints}>
        {(all) => <Shown query={owed}>{(found) => <List endpoints={all} owed={found} />}</Shown>}
      </Shown>
      <Sources />
    </section>
  );
}

function List({ endpoints, owed }: { readonly endpoints: readonly Endpoint[]; readonly owed: Owed }) {
  if (endpoints.length === 0) {
    return (
      <Empty title="No endpoint yet">
        <p>
          An endpoint is a URL of your server that webhooks are sent to. Press <b>New endpoint</b>, and type
          its URL.
        </p>
      </Empty>
    );
  }
  return (
    <ul className="endpoints">
      {endpoints.map((endpoint) => (
        <li key={endpoint.uuid} className="stack">
          <div className="row">
            <h2>
              <EndpointLink uuid={endpoint.uuid}>{labelOf(endpoint)}</EndpointLink>
            </h2>
            <span className="chip">{endpoint.api_version}</span>
            <span className="chip">{filterOf(endpoint)}</span>
            {endpoint.legacy ? <span className="chip">single webhook</span> : null}
          </div>
          <p className="note">{foreign(endpoint.url)}</p>
          <Verdict endpoint={endpoint} owed={owed} />
        </li>
      ))}
    </ul>
  );
}
