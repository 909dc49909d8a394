import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import type { Endpoint } from '../api/shapes.ts';
import { Copy } from '../parts/copy.tsx';
import { labelOf } from '../parts/endpoint-name.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Id } from '../parts/id.tsx';
import { Shown } from '../parts/shown.tsx';
import { useTitle } from '../parts/title.ts';
import { NoPage } from '../shell/no-page.tsx';
import { RotateSecret } from './change/rotate-secret.tsx';
import { Settings } from './change/settings.tsx';
import { TestPanel } from './change/test-panel.tsx';
import { VersionMove } from './change/version-move.tsx';
import { endpointsNowQuery } from './endpoint-reads.ts';
import { Health } from './health/health.tsx';
import { filterOf } from './verdict.tsx';

interface PartProps {
  readonly endpoint: Endpoint;
}

const PARTS: Readonly<Record<string, readonly [says: string, screen: ComponentType<PartProps>]>> = {
  health: ['Health', Health],
  test: ['Test', TestPanel],
  settings: ['Settings', Settings],
  version: ['Version', VersionMove],
  secret: ['Secret', RotateSecret],
};

/** An endpoint: its health, and what is changed at it or tried with it. */
export function EndpointPage() {
  const { endpoint: uuid = '', part = '' } = useParams({ strict: false });
  const query = useQuery(endpointsNowQuery);
  if (!Object.hasOwn(PARTS, part)) return <NoPage />;
  return (
    <Shown query={query}>
      {(all) => {
        const endpoint = all.find((one) => one.uuid === uuid);
        return endpoint ? <Part key={uuid} part={part} endpoint={endpoint} /> : <Gone uuid={uuid} />;
      }}
    </Shown>
  );
}

function Part({ part, endpoint }: PartProps & { readonly part: string }) {
  const [says = '', Screen = Health] = PARTS[part] ?? [];
  const { uuid, url } = endpoint;
  useTitle(`${labelOf(endpoint)}: ${says}`);
  return (
    <>
      <section className="panel">
        <h1>
          <Foreign text={labelOf(endpoint)} /> <span className="chip">{endpoint.api_version}</span>{' '}
          <span className="chip">{filterOf(endpoint)}</span>
          {endpoint.public_key_signature ? <span className="chip">v1a</span> : null}
        </h1>
        <p className="facts">
          <Foreign text={url} /> <Copy text={url} what="the URL" /> · endpoint{' '}
          <Id id={uuid} what="the endpoint's id" />
        </p>
        <nav className="tabs" aria-label="Parts of the endpoint">
          {Object.entries(PARTS).map(([name, [word]]) => (
            <Link key={name} to="/endpoints/$endpoint/$part" params={{ endpoint: uuid, part: name }}>
              {word}
            </Link>
          ))}
        </nav>
      </section>
      <Screen key={part} endpoint={endpoint} />
    </>
  );
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
