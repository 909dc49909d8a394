import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Loading } from '../parts/loading.tsx';
import { NoScreen } from './parts/no-screen.tsx';
import { OperatorShell } from './shell.tsx';

const root = createRootRoute({ component: OperatorShell, notFoundComponent: NoScreen });
const getParentRoute = () => root;

const home = createRoute({
  getParentRoute,
  path: '/',
  beforeLoad: () => {
    // The types of redirect know the merchants' screens only.
    throw redirect({ href: '/console/now', replace: true });
  },
});

const now = lazyRouteComponent(() => import('./now/now-page.tsx'), 'NowPage');
const find = () => import('./found/find-page.tsx');
const things = () => import('./found/things-page.tsx');
const story = lazyRouteComponent(() => import('./found/story-page.tsx'), 'StoryPage');
const deliveries = lazyRouteComponent(() => import('./found/deliveries-page.tsx'), 'DeliveriesPage');
const merchants = lazyRouteComponent(() => import('./merchants/merchants-page.tsx'), 'MerchantsPage');
const merchant = lazyRouteComponent(() => import('./merchants/merchant-page.tsx'), 'MerchantPage');
const quarantine = lazyRouteComponent(() => import('./quarantine/quarantine-page.tsx'), 'QuarantinePage');
const record = lazyRouteComponent(() => import('./quarantine/record-page.tsx'), 'RecordPage');
const runbook = lazyRouteComponent(() => import('./runbook/runbook-page.tsx'), 'RunbookPage');
const audit = lazyRouteComponent(() => import('./trail/audit-page.tsx'), 'AuditPage');
const letters = lazyRouteComponent(() => import('./trail/dead-letters-page.tsx'), 'DeadLettersPage');
const replays = lazyRouteComponent(() => import('./trail/replays-page.tsx'), 'ReplaysPage');

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    createRoute({ getParentRoute, path: '/now', component: now }),
    createRoute({ getParentRoute, path: '/find', component: lazyRouteComponent(find, 'FindPage') }),
    createRoute({ getParentRoute, path: '/find/$id', component: lazyRouteComponent(find, 'FoundPage') }),
    createRoute({ getParentRoute, path: '/subjects/$id', component: story }),
    createRoute({ getParentRoute, path: '/events/$id', component: lazyRouteComponent(things, 'EventPage') }),
    createRoute({ getParentRoute, path: '/deliveries', component: deliveries }),
    createRoute({
      getParentRoute,
      path: '/deliveries/$id',
      component: lazyRouteComponent(things, 'DeliveryPage'),
    }),
    createRoute({ getParentRoute, path: '/merchants', component: merchants }),
    createRoute({ getParentRoute, path: '/merchants/$id', component: merchant }),
    createRoute({ getParentRoute, path: '/quarantine', component: quarantine }),
    createRoute({ getParentRoute, path: '/quarantine/$id', component: record }),
    createRoute({ getParentRoute, path: '/dead-letters', component: letters }),
    createRoute({ getParentRoute, path: '/replays', component: replays }),
    createRoute({ getParentRoute, path: '/audit', component: audit }),
    createRoute({ getParentRoute, path: '/runbook/$id', component: runbook }),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => (
    <ErrorPanel error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  ),
});
