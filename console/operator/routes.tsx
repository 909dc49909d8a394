import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { NoPage } from '../parts/screen.tsx';
import { ROUTER } from '../start.tsx';
import { OperatorShell } from './shell.tsx';

const root = createRootRoute({
  component: OperatorShell,
  notFoundComponent: () => <NoPage home={['/now', 'Now']} />,
});
const getParentRoute = () => root;

const home = createRoute({
  getParentRoute,
  path: '/',
  beforeLoad: () => {
    // The types of redirect know the merchants' screens only.
    throw redirect({ href: '/console/now', replace: true });
  },
});

const find = () => import('./found/find-page.tsx');
const things = () => import('./found/things-page.tsx');

/** The screens by their addresses. */
const SCREENS = {
  '/now': lazyRouteComponent(() => import('./now/now-page.tsx'), 'NowPage'),
  '/find': lazyRouteComponent(find, 'FindPage'),
  '/find/$id': lazyRouteComponent(find, 'FoundPage'),
  '/subjects/$id': lazyRouteComponent(() => import('./found/story-page.tsx'), 'StoryPage'),
  '/events/$id': lazyRouteComponent(things, 'EventPage'),
  '/deliveries': lazyRouteComponent(() => import('./found/deliveries-page.tsx'), 'DeliveriesPage'),
  '/deliveries/$id': lazyRouteComponent(things, 'DeliveryPage'),
  '/merchants': lazyRouteComponent(() => import('./merchants/merchants-page.tsx'), 'MerchantsPage'),
  '/merchants/$id': lazyRouteComponent(() => import('./merchants/merchant-page.tsx'), 'MerchantPage'),
  '/quarantine': lazyRouteComponent(() => import('./quarantine/quarantine-page.tsx'), 'QuarantinePage'),
  '/quarantine/$id': lazyRouteComponent(() => import('./quarantine/record-page.tsx'), 'RecordPage'),
  '/dead-letters': lazyRouteComponent(() => import('./trail/dead-letters-page.tsx'), 'DeadLettersPage'),
  '/replays': lazyRouteComponent(() => import('./trail/replays-page.tsx'), 'ReplaysPage'),
  '/audit': lazyRouteComponent(() => import('./trail/audit-page.tsx'), 'AuditPage'),
  '/runbook/$id': lazyRouteComponent(() => import('./runbook/runbook-page.tsx'), 'RunbookPage'),
};

export const router = createRouter({
  ...ROUTER,
  routeTree: root.addChildren([
    home,
    ...Object.entries(SCREENS).map(([path, component]) => createRoute({ getParentRoute, path, component })),
  ]),
});
