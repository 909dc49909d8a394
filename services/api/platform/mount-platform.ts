import type { Express, RequestHandler } from 'express';
import type { PlatformScope } from '../../domain/access/platform-scopes.ts';
import { authenticate } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { createPortalSession, endPortalSession, endPortalSessions } from '../portal/portal-links.ts';
import { route } from '../routes/mount-route.ts';
import { listDeadLetters } from './dead-letters.ts';
import { erasePerson, listErasures } from './erasures.ts';
import { listPlatformDeliveries, listPlatformEndpoints, listPlatformEvents } from './lists.ts';
import { createMerchantKey, listMerchantKeys, revokeMerchantKey } from './merchant-keys.ts';
import {
  close,
  createPlatformMerchant,
  getMerchant,
  listMerchants,
  setState,
  updateMerchant,
} from './merchants.ts';
import { readPerson, requireScope } from './platform-access.ts';
import { getQuarantined, listQuarantined, replayMany, replayOne } from './quarantine.ts';
import {
  cancelPlatformReplay,
  getPlatformReplay,
  listPlatformReplays,
  startPlatformReplay,
} from './replays.ts';

interface Chains {
  readonly general: RequestHandler;
  readonly validated: readonly RequestHandler[];
}

/** Returns the handlers of an operation: those before it, and its own. */
type Open = (scope: PlatformScope, handler: RequestHandler) => RequestHandler[];

/** The platform API: what the backend of the platform that embeds hookrail does for its merchants. */
export function mountPlatform(app: Express, context: ApiContext, { general, validated }: Chains): void {
  const known = [authenticate('platform', context), general];
  const open: Open = (scope, handler) => [...known, requireScope(scope), ...validated, readPerson, handler];
  mountMerchants(app, context, open);
  mountOverAll(app, context, open);
  mountKept(app, context, open);
}

function mountMerchants(app: Express, context: ApiContext, open: Open): void {
  const merchant = '/platform/merchants/{merchant_id}';
  route(app, '/platform/merchants', {
    post: open('merchants:write', createPlatformMerchant(context)),
    get: open('merchants:read', listMerchants(context)),
  });
  route(app, merchant, {
    get: open('merchants:read', getMerchant(context)),
    patch: open('merchants:write', updateMerchant(context)),
  });
  route(app, `${merchant}/pause`, { post: open('merchants:write', setState(context, 'paused')) });
  route(app, `${merchant}/resume`, { post: open('merchants:write', setState(context, 'active')) });
  route(app, `${merchant}/close`, { post: open('merchants:write', close(context)) });
  route(app, `${merchant}/api-keys`, {
    post: open('keys:write', createMerchantKey(context)),
    get: open('merchants:read', listMerchantKeys(context)),
  });
  route(app, `${merchant}/api-keys/{api_key_uuid}`, {
    delete: open('keys:write', revokeMerchantKey(context)),
  });
  route(app, `${merchant}/portal-sessions`, {
    post: open('portal:write', createPortalSession(context)),
    delete: open('portal:write', endPortalSessions(context)),
  });
  route(app, `${merchant}/portal-sessions/{portal_session_uuid}`, {
    delete: open('portal:write', endPortalSession(context)),
  });
}

/** Mounts the operations over all merchants, or over one that the request names. */
function mountOverAll(app: Express, context: ApiContext, open: Open): void {
  route(app, '/platform/erasures', {
    post: open('erasure:write', erasePerson(context)),
    get: open('erasure:write', listErasures(context)),
  });
  route(app, '/platform/webhook-endpoints', {
    get: open('deliveries:read', listPlatformEndpoints(context)),
  });
  route(app, '/platform/deliveries', { get: open('deliveries:read', listPlatformDeliveries(context)) });
  route(app, '/platform/events', { get: open('deliveries:read', listPlatformEvents(context)) });
  route(app, '/platform/replays', {
    post: open('replays:write', startPlatformReplay(context)),
    get: open('replays:write', listPlatformReplays(context)),
  });
  route(app, '/platform/replays/{incident_replay_id}', {
    get: open('replays:write', getPlatformReplay(context)),
  });
  route(app, '/platform/replays/{incident_replay_id}/cancel', {
    post: open('replays:write', cancelPlatformReplay(context)),
  });
}

/** Mounts the operations on what the broker keeps for operators: what was not routed, and what was given up. */
function mountKept(app: Express, context: ApiContext, open: Open): void {
  route(app, '/platform/quarantine', { get: open('quarantine:read', listQuarantined(context)) });
  route(app, '/platform/quarantine/{quarantine_id}', {
    get: open('quarantine:read', getQuarantined(context)),
  });
  route(app, '/platform/quarantine/{quarantine_id}/replay', {
    post: open('quarantine:write', replayOne(context)),
  });
  route(app, '/platform/quarantine-replays', { post: open('quarantine:write', replayMany(context)) });
  route(app, '/platform/dead-letters', { get: open('deliveries:read', listDeadLetters(context)) });
}
