import { useParams } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import type { Endpoint } from '../../api/shapes.ts';
import { labelOf } from '../../parts/endpoint-name.tsx';
import { useTitle } from '../../parts/title.ts';
import { NoPage } from '../../shell/no-page.tsx';
import { EndpointFrame, PARTS, type PartName } from '../endpoint-frame.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { Settings } from './settings.tsx';
import { TestPanel } from './test-panel.tsx';
import { VersionMove } from './version-move.tsx';

interface PartProps {
  readonly endpoint: Endpoint;
}

const SCREENS: Readonly<Record<PartName, ComponentType<PartProps>>> = {
  test: TestPanel,
  settings: Settings,
  version: VersionMove,
  secret: RotateSecret,
};

const isPart = (part: string): part is PartName => Object.hasOwn(PARTS, part);

/** What is changed at an endpoint, or tried with it. */
export function PartPage() {
  const { endpoint: uuid, part } = useParams({ from: '/endpoints/$endpoint/$part' });
  if (!isPart(part)) return <NoPage />;
  return (
    <EndpointFrame uuid={uuid}>
      {(endpoint) => <Part key={`${uuid} ${part}`} part={part} endpoint={endpoint} />}
    </EndpointFrame>
  );
}

function Part({ part, endpoint }: PartProps & { readonly part: PartName }) {
  useTitle(`${PARTS[part]} of ${labelOf(endpoint)}`);
  const Screen = SCREENS[part];
  return <Screen endpoint={endpoint} />;
}
