import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Endpoint } from '../api/shapes.ts';
import { labelOf } from '../parts/endpoint-name.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Shown } from '../parts/shown.tsx';
import { useTitle } from '../parts/title.ts';
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
      <div className="endpoint-head">
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
      <div className="empty">
        <h2>No endpoint yet</h2>
        <p>
          An endpoint is a URL of your server that webhooks are sent to. Press <b>New endpoint</b>, and type
          its URL.
        </p>
      </div>
    );
  }
  return (
    <ul className="endpoints">
      {endpoints.map((endpoint) => (
        <li key={endpoint.uuid}>
          <div className="name">
            <h2>
              <Link to="/endpoints/$endpoint" params={{ endpoint: endpoint.uuid }}>
                <Foreign text={labelOf(endpoint)} />
              </Link>
            </h2>
            <span className="chip">{endpoint.api_version}</span>
            <span className="chip">{filterOf(endpoint)}</span>
            {endpoint.legacy ? <span className="chip">single webhook</span> : null}
          </div>
          <p className="note">
            <Foreign text={endpoint.url} />
          </p>
          <Verdict endpoint={endpoint} owed={owed} />
        </li>
      ))}
    </ul>
  );
}
