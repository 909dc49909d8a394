import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import type { Endpoint } from '../api/shapes.ts';
import { Copy, Id } from '../parts/controls.tsx';
import { labelOf } from '../parts/endpoint.tsx';
import { NoPage, Panel, Shown, useTitle } from '../parts/screen.tsx';
import { foreign } from '../parts/text.tsx';
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
  if (!Object.hasOwn(PARTS, part)) return <NoPage home={['/live', 'Live']} />;
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
  const title = (
    <>
      {labelOf(endpoint)} <span className="chip">{endpoint.api_version}</span>{' '}
      <span className="chip">{filterOf(endpoint)}</span>
      {endpoint.kind === 'operational' ? <span className="chip">operational, {endpoint.format}</span> : null}
      {endpoint.public_key_signature ? <span className="chip">v1a</span> : null}
      {endpoint.requests_per_second === null ? null : (
        <span className="chip">{endpoint.requests_per_second} a second at most</span>
      )}
      {endpoint.headers.map(({ name }) => (
        <span className="chip" key={name}>
          {name}
        </span>
      ))}
    </>
  );
  return (
    <>
      <Panel heading="h1" title={title}>
        <p className="facts">
          {foreign(url)} <Copy text={url} what="the URL" /> · endpoint{' '}
          <Id id={uuid} what="the endpoint's id" />
        </p>
        <nav className="row tabs" aria-label="Parts of the endpoint">
          {Object.entries(PARTS).map(([name, [word]]) => (
            <Link key={name} to="/endpoints/$endpoint/$part" params={{ endpoint: uuid, part: name }}>
              {word}
            </Link>
          ))}
        </nav>
      </Panel>
      <Screen key={part} endpoint={endpoint} />
    </>
  );
}

function Gone({ uuid }: { readonly uuid: string }) {
  const live = (
    <Link to="/live" search={{ endpoint: uuid }}>
      Live
    </Link>
  );
  return (
    <Panel heading="h1" title="You have no endpoint with this id">
      <p>
        <code>{uuid}</code> was deleted, or the address is cut off. What was sent to it is in {live}; all
        others are in <Link to="/endpoints">Endpoints</Link>.
      </p>
    </Panel>
  );
}
