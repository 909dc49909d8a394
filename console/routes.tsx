import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { liveFiltersIn } from './live/live-filters.ts';
import { missedSearchIn } from './missed/missed-search.ts';
import { NoPage } from './parts/screen.tsx';
import { textsIn } from './parts/search.ts';
import { Shell } from './shell/shell.tsx';
import { ROUTER } from './start.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <NoPage home={['/live', 'Live']} />,
});
const at = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path });

const LivePage = lazyRouteComponent(() => import('./live/live-page.tsx'), 'LivePage');
const MissedPage = lazyRouteComponent(() => import('./missed/missed-page.tsx'), 'MissedPage');
const FindPage = lazyRouteComponent(() => import('./find/find-page.tsx'), 'FindPage');
const FoundPage = lazyRouteComponent(() => import('./find/find-page.tsx'), 'FoundPage');
const EventPage = lazyRouteComponent(() => import('./find/find-page.tsx'), 'EventPage');
const StoryPage = lazyRouteComponent(() => import('./story/story-page.tsx'), 'StoryPage');
const DeliveryPage = lazyRouteComponent(() => import('./delivery/delivery-page.tsx'), 'DeliveryPage');
const EndpointsPage = lazyRouteComponent(() => import('./endpoints/endpoints-page.tsx'), 'EndpointsPage');
const NewPage = lazyRouteComponent(
  () => import('./endpoints/change/new-endpoint-page.tsx'),
  'NewEndpointPage',
);
const EndpointPage = lazyRouteComponent(() => import('./endpoints/endpoint-page.tsx'), 'EndpointPage');
const VerifyPage = lazyRouteComponent(() => import('./verify/verify-page.tsx'), 'VerifyPage');
const PlayPage = lazyRouteComponent(() => import('./play/play-page.tsx'), 'PlayPage');
const CataloguePage = lazyRouteComponent(() => import('./catalogue/catalogue-page.tsx'), 'CataloguePage');

const home = createRoute({
  ...at('/'),
  beforeLoad: () => {
    throw redirect({ to: '/live', replace: true });
  },
});

const endpoint = createRoute({
  ...at('/endpoints/$endpoint'),
  beforeLoad: ({ params }) => {
    throw redirect({
      to: '/endpoints/$endpoint/$part',
      params: { ...params, part: 'health' },
      replace: true,
    });
  },
});

/** The delivery whose request Verify begins with. */
const deliveryNamedIn = textsIn('endpoint', 'delivery');
/** The event that the catalogue shows. */
const kindIn = textsIn('type', 'subType');
/** A play, and the user that it is about: after a reload it goes on where it was. */
const playIn = textsIn('scenario', 'user');

export const router = createRouter({
  ...ROUTER,
  routeTree: root.addChildren([
    home,
    createRoute({ ...at('/live'), validateSearch: liveFiltersIn, component: LivePage }),
    createRoute({ ...at('/missed'), validateSearch: missedSearchIn, component: MissedPage }),
    createRoute({ ...at('/find'), component: FindPage }),
    createRoute({ ...at('/find/$id'), component: FoundPage }),
    createRoute({ ...at('/events/$id'), component: EventPage }),
    createRoute({ ...at('/subjects/$id'), component: StoryPage }),
    createRoute({ ...at('/endpoints/$endpoint/deliveries/$id'), component: DeliveryPage }),
    createRoute({ ...at('/endpoints'), component: EndpointsPage }),
    createRoute({ ...at('/endpoints/new'), component: NewPage }),
    endpoint,
    createRoute({ ...at('/endpoints/$endpoint/$part'), component: EndpointPage }),
    createRoute({ ...at('/verify'), validateSearch: deliveryNamedIn, component: VerifyPage }),
    createRoute({ ...at('/play'), validateSearch: playIn, component: PlayPage }),
    createRoute({ ...at('/catalogue'), validateSearch: kindIn, component: CataloguePage }),
  ]),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
