/**
 * The api station: the merchants' REST API, and event intake over HTTP for producers. openapi.yaml describes the API;
 * requests are validated against it.
 */
import { setMaxListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { KeyRing } from '../keys/keyring.ts';
import { addressListOf } from '../process/access/address-list.ts';
import type { Clock } from '../process/clock.ts';
import type { Descriptors } from '../process/descriptors.ts';
import type { Random } from '../process/random.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { listen } from '../telemetry/operations.ts';
import type { Activity } from '../watchdog/activity.ts';
import { clientAddressOf } from './access/client-address.ts';
import { FailedKeys } from './access/failed-keys.ts';
import { refuseForeignNames } from './access/host-check.ts';
import { authenticate, type Environment } from './auth.ts';
import { boundValues, readJson } from './body.ts';
import { mountConsole } from './console/serve-console.ts';
import { API_LIMITS, type ApiContext, type ApiOptions } from './context.ts';
import { apiHeaders, type Docs, mountDocs } from './docs.ts';
import { lookUp } from './find/lookup.ts';
import { getStory } from './find/read-story.ts';
import { mountPlatform } from './platform/mount-platform.ts';
import { closeSession, openSession, readSession } from './portal/console-session.ts';
import { authenticateMerchant } from './portal/portal-auth.ts';
import { linkUrl, makePortalLink } from './portal/portal-links.ts';
import { ApiError, problemHandler } from './problem.ts';
import { AcceptedEvents } from './producer/accepted-events.ts';
import { publishEvents } from './producer/publish-events.ts';
import { readPublished } from './producer/read-published.ts';
import { limitPerMinute } from './rate-limit.ts';
import { readTargets, refuseMalformedTargets } from './reading/request-target.ts';
import { refuseQueryTexts, refuseTexts } from './reading/texts.ts';
import { requestLog } from './request-log.ts';
import { deleteEndpoint, updateEndpoint } from './routes/change-endpoint.ts';
import { checkEndpoint } from './routes/check-endpoint.ts';
import { createEndpoint } from './routes/create-endpoint.ts';
import { ofOrder } from './routes/event-feed.ts';
import { getLegacyWebhook, updateLegacyWebhook } from './routes/legacy-webhook.ts';
import { route } from './routes/mount-route.ts';
import { getDelivery, getEvent } from './routes/read-deliveries.ts';
import { getEndpoint, listEndpoints } from './routes/read-endpoints.ts';
import { listAllDeliveries, listDeliveries, listEvents } from './routes/read-lists.ts';
import { getMetrics } from './routes/read-metrics.ts';
import { getReplay, listReplays, startReplay } from './routes/replays.ts';
import { resendDelivery } from './routes/resend-delivery.ts';
import { discardPrepared, prepareSecret, rotateSecret } from './routes/secrets.ts';
import { streamEvents } from './routes/stream.ts';
import { refuseInProduction, testEndpoint } from './routes/test-endpoint.ts';
import { unknownPath } from './routes/unknown-path.ts';
import { onlyInSandbox, triggerEvent } from './sandbox/trigger-event.ts';
import { createApiServer, drainServer } from './server.ts';
import { serviceDate } from './service-date.ts';
import { makeStreams } from './stream/make-streams.ts';
import { validateRequests } from './validation.ts';
import { mountWellKnown } from './well-known/mount-well-known.ts';
import { remindOfExpiry } from './well-known/security-txt.ts';

export type { ApiOptions } from './context.ts';

export interface ApiDeps {
  readonly store: Store;
  readonly relay: ApiContext['relay'];
  readonly broker: ApiContext['broker'];
  readonly directory: ApiContext['directory'];
  readonly keyRing: KeyRing;
  readonly checkUrl: ApiContext['checkUrl'];
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Environment;
  readonly options: ApiOptions;
  readonly log: Logger;
  readonly registry: Registry;
  readonly descriptors?: Pick<Descriptors, 'isShort'>;
  readonly activity?: Activity;
}

export interface Api {
  readonly url: string;
  readonly port: number;
  readonly docs: Docs;
  /** Makes a link to the console of a merchant, by the address that the station listens on. */
  consoleLink(merchantId: string): Promise<string>;
  /** Stops listening, and gives running requests some time to finish. May be called twice. */
  stop(): Promise<void>;
}

/** Starts the station. Rejects with ConfigError when the port cannot be listened on. */
export async function startApi(deps: ApiDeps): Promise<Api> {
  const limits = { ...API_LIMITS, ...deps.options.limits };
  const stopping = new AbortController();
  // Each open stream listens to it, and each request that waits.
  setMaxListeners(0, stopping.signal);
  const proxies = addressListOf(deps.options.trustedProxies);
  const isProxy = (address: string) => proxies.has(address);
  const failedKeys = new FailedKeys({ clock: deps.clock, perMinuteMax: deps.options.failedKeysPerMinute });
  const of = {
    limits,
    clientAddress: clientAddressOf(proxies),
    isProxy,
    failedKeys,
    stopping: stopping.signal,
  };
  const { app, docs } = createApp({ ...deps, ...of }, deps);
  remindOfExpiry(deps.options.securityTxt, deps);
  const server = createApiServer(readTargets(app), limits, {
    random: deps.random,
    isShort: () => deps.descriptors?.isShort ?? false,
    isProxy,
  });
  await listen(server, deps.options.host, deps.options.port, 'HOOKRAIL_API_PORT');
  const { port } = server.address() as AddressInfo;
  const host = deps.options.host.includes(':') ? `[${deps.options.host}]` : deps.options.host;
  let stopped: Promise<void> | undefined;
  return {
    url: `http://${host}:${port}`,
    port,
    docs,
    consoleLink: async (merchantId) => {
      const { token } = await makePortalLink({ ...deps, actor: { kind: 'operator' } }, merchantId, {});
      return linkUrl(`http://${host}:${port}/console`, token);
    },
    stop: () => {
      stopping.abort();
      stopped ??= drainServer(server, limits.stopGraceMs, deps.clock);
      return stopped;
    },
  };
}

function createApp(
  context: ApiContext,
  deps: Pick<ApiDeps, 'log' | 'registry' | 'activity'>,
): { readonly app: Express; readonly docs: Docs } {
  const { general, tests, feed } = rateLimitsOf(context);
  const app = express();
  app.locals.paths = [];
  // Paths must match openapi.yaml exactly.
  app.enable('case sensitive routing').enable('strict routing').disable('etag');
  app.use(
    requestLog({ ...context, ...deps }),
    serviceDate(context.clock),
    apiHeaders,
    refuseMalformedTargets,
    refuseForeignNames({ ...context, names: context.options.names }),
  );
  const docs = mountDocs(app, context.environment, context);
  mountConsole(app, context.options);
  const known = authenticateMerchant(context);
  const merchant = [known, general];
  const validated = [readJson(context.limits.bodyBytesMax), boundValues, refuseTexts, ...validateRequests()];
  const open = (...handlers: RequestHandler[]) => [...merchant, ...validated, ...handlers];

  route(app, '/merchant/webhook-endpoints', {
    post: open(createEndpoint(context)),
    get: open(listEndpoints(context)),
  });
  route(app, '/merchant/webhook-endpoints/{id}', {
    get: open(getEndpoint(context)),
    patch: open(updateEndpoint(context)),
    delete: open(deleteEndpoint(context)),
  });
  mountOnRequest(app, context, { open, limited: [...merchant, tests], validated });
  route(app, '/merchant/webhook-endpoints/{id}/deliveries', { get: open(listDeliveries(context)) });
  route(app, '/merchant/webhook-endpoints/{id}/deliveries/{delivery_id}', {
    get: open(getDelivery(context)),
  });
  route(app, '/merchant/webhook-endpoints/{id}/deliveries/{delivery_id}/resend', {
    post: open(resendDelivery(context)),
  });
  route(app, '/merchant/webhook-endpoints/{id}/replay', { post: open(startReplay(context)) });
  route(app, '/merchant/webhook-endpoints/{id}/replays', { get: open(listReplays(context)) });
  route(app, '/merchant/webhook-endpoints/{id}/replays/{replay_id}', { get: open(getReplay(context)) });
  route(app, '/merchant/deliveries', { get: open(listAllDeliveries(context)) });
  route(app, '/merchant/metrics', { get: open(getMetrics(context)) });
  route(app, '/merchant/events', {
    get: [known, ofOrder(feed, general, context), ...validated, listEvents(context)],
  });
  route(app, '/merchant/stream', { get: open(streamEvents(context, makeStreams(context, deps))) });
  route(app, '/merchant/events/{event_id}', { get: open(getEvent(context)) });
  route(app, '/merchant/subjects/{subject_id}', { get: open(getStory(context)) });
  route(app, '/merchant/lookup/{any_id}', { get: open(lookUp(context)) });
  route(app, '/merchant', {
    get: open(getLegacyWebhook(context)),
    patch: open(updateLegacyWebhook(context)),
  });
  route(app, '/merchant/sandbox/events', {
    post: [onlyInSandbox(context), ...open(triggerEvent(context))],
  });
  mountProducers(app, context, [general, ...validated]);
  mountPlatform(app, context, { general, validated });
  mountConsoleSession(app, context, validated);
  mountWellKnown(app, context, validated);

  app.use(unknownPath(app.locals.paths));
  app.use(problemHandler(deps.log));
  return { app, docs };
}

interface Chains {
  readonly open: (...handlers: RequestHandler[]) => RequestHandler[];
  readonly limited: readonly RequestHandler[];
  readonly validated: readonly RequestHandler[];
}

/** The secrets of an endpoint, and what is sent to it on request. `limited`: by the class of tests. */
function mountOnRequest(app: Express, context: ApiContext, { open, limited, validated }: Chains): void {
  route(app, '/merchant/webhook-endpoints/{id}/secret', { patch: open(rotateSecret(context)) });
  route(app, '/merchant/webhook-endpoints/{id}/secret/prepare', {
    post: open(prepareSecret(context)),
    delete: open(discardPrepared(context)),
  });
  route(app, '/merchant/webhook-endpoints/{id}/test', {
    post: [...limited, refuseInProduction(context), ...validated, testEndpoint(context)],
  });
  route(app, '/merchant/webhook-endpoints/{id}/check', {
    post: [...limited, ...validated, checkEndpoint(context)],
  });
}

/** The classes of requests, each counted for itself. */
function rateLimitsOf({ options, store, clock }: ApiContext) {
  const limited = (name: string, perMinute: number) => limitPerMinute(name, perMinute, store.limits, clock);
  return {
    general: limited('requests', options.rateLimitPerMinute),
    tests: limited('tests', options.testRateLimitPerMinute),
    feed: limited('feed', options.feedRateLimitPerMinute),
  };
}

/** Publishing is not limited, and the codec checks what it decodes; the questions go the way of a merchant's. */
function mountProducers(app: Express, context: ApiContext, ofQuestions: readonly RequestHandler[]): void {
  const accepted = new AcceptedEvents(context.clock);
  const producer = authenticate('producer', context);
  const body = readJson(context.limits.producerBodyBytesMax);
  route(app, '/producer/events', {
    post: [producer, body, requireBody, refuseQueryTexts, publishEvents(context, accepted)],
  });
  route(app, '/producer/events/{event_id}', {
    get: [producer, ...ofQuestions, readPublished(context, accepted)],
  });
}

/** The console's sessions: the platform makes a link, and the console's page opens it. */
function mountConsoleSession(app: Express, context: ApiContext, validated: readonly RequestHandler[]): void {
  route(app, '/console/session', {
    post: [...validated, openSession(context)],
    get: [...validated, readSession(context)],
    delete: [...validated, closeSession(context)],
  });
}

const requireBody: RequestHandler = (request, _response, next) => {
  if (request.body !== undefined) return next();
  const errors = [{ pointer: '', code: 'required', detail: 'a JSON body is required' }];
  throw new ApiError('validation_error', 'The request has no body.', { errors });
};
