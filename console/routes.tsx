import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { kindIn } from './catalogue/kind-named.ts';
import { liveFiltersIn } from './live/live-filters.ts';
import { missedSearchIn } from './missed/missed-search.ts';
import { ErrorPanel } from './parts/error-panel.tsx';
import { Loading } from './parts/loading.tsx';
import { playIn } from './play/play-named.ts';
import { NoPage } from './shell/no-page.tsx';
import { Shell } from './shell/shell.tsx';
import { deliveryNamedIn } from './verify/delivery-named.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: NoPage });
const getParentRoute = () => root;

const home = createRoute({
  getParentRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/live', replace: true });
  },
});

const live = createRoute({
  getParentRoute,
  path: '/live',
  validateSearch: liveFiltersIn,
  component: lazyRouteComponent(() => import('./live/live-page.tsx'), 'LivePage'),
});

const missed = createRoute({
  getParentRoute,
  path: '/missed',
  validateSearch: missedSearchIn,
  component: lazyRouteComponent(() => import('./missed/missed-page.tsx'), 'MissedPage'),
});

const find = createRoute({
  getParentRoute,
  path: '/find',
  component: lazyRouteComponent(() => import('./find/find-page.tsx'), 'FindPage'),
});

const found = createRoute({
  getParentRoute,
  path: '/find/$id',
  component: lazyRouteComponent(() => import('./find/find-page.tsx'), 'FoundPage'),
});

const event = createRoute({
  getParentRoute,
  path: '/events/$id',
  component: lazyRouteComponent(() => import('./find/event-page.tsx'), 'EventPage'),
});

const story = createRoute({
  getParentRoute,
  path: '/subjects/$id',
  component: lazyRouteComponent(() => import('./story/story-page.tsx'), 'StoryPage'),
});

const delivery = createRoute({
  getParentRoute,
  path: '/endpoints/$endpoint/deliveries/$id',
  component: lazyRouteComponent(() => import('./delivery/delivery-page.tsx'), 'DeliveryPage'),
});

const endpoints = createRoute({
  getParentRoute,
  path: '/endpoints',
  component: lazyRouteComponent(() => import('./endpoints/endpoints-page.tsx'), 'EndpointsPage'),
});

const newEndpoint = createRoute({
  getParentRoute,
  path: '/endpoints/new',
  component: lazyRouteComponent(() => import('./endpoints/change/new-endpoint-page.tsx'), 'NewEndpointPage'),
});

const endpoint = createRoute({
  getParentRoute,
  path: '/endpoints/$endpoint',
  beforeLoad: ({ params: { endpoint: id } }) => {
    throw redirect({
      to: '/endpoints/$endpoint/$part',
      params: { endpoint: id, part: 'health' },
      replace: true,
    });
  },
});

const endpointPart = createRoute({
  getParentRoute,
  path: '/endpoints/$endpoint/$part',
  component: lazyRouteComponent(() => import('./endpoints/endpoint-page.tsx'), 'EndpointPage'),
});

const verify = createRoute({
  getParentRoute,
  path: '/verify',
  validateSearch: deliveryNamedIn,
  component: lazyRouteComponent(() => import('./verify/verify-page.tsx'), 'VerifyPage'),
});

const play = createRoute({
  getParentRoute,
  path: '/play',
  validateSearch: playIn,
  component: lazyRouteComponent(() => import('./play/play-page.tsx'), 'PlayPage'),
});

const catalogue = createRoute({
  getParentRoute,
  path: '/catalogue',
  validateSearch: kindIn,
  component: lazyRouteComponent(() => import('./catalogue/catalogue-page.tsx'), 'CataloguePage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...[home, live, missed, find, found, event, story, delivery],
    ...[endpoints, newEndpoint, endpoint, endpointPart, verify, play, catalogue],
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => (
    <ErrorPanel error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
