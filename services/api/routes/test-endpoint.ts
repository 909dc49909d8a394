import type { Request, RequestHandler, Response } from 'express';
import { subTypesOf, typesOf } from '../../domain/catalog/catalog.ts';
import { NO_SEQUENCE } from '../../domain/catalog/sequence.ts';
import { subjectIdOf } from '../../domain/catalog/subject.ts';
import { type ApiVersion, subscribes } from '../../domain/endpoint.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { requestedDeliveryId } from '../../domain/ids.ts';
import type { Merchant } from '../../domain/merchant.ts';
import { isNoticeType, type WebhookType } from '../../domain/notices/notice.ts';
import type { RequestedDelivery } from '../../domain/requested-task.ts';
import type { SignedWith } from '../../domain/task.ts';
import { renderBody } from '../../domain/versions/render.ts';
import { goneSignal } from '../../process/gone.ts';
import { sampleEvent } from '../../samples/sample.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { type ApiContext, auditRequest, wholeNow } from '../context.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { publishRequested } from '../publish-requested.ts';
import { checkEventNamed, type EventNamed, entityOf } from '../sandbox/named-event.ts';
import { requireKind } from './filter-warnings.ts';
import { rounded } from './read-deliveries.ts';
import { findEndpoint } from './read-endpoints.ts';
import { notPrepared } from './secrets.ts';
import { type TestContent, testNotice } from './test-notice.ts';

const PREVIEW_BYTES = 1024;

interface TestBody extends Omit<EventNamed, 'type'> {
  readonly type: WebhookType;
  /** Absent: the secret in force. */
  readonly signed_with?: SignedWith;
}

/** Refuses the operation in production, before anything reads the request. */
export function refuseInProduction(context: Pick<ApiContext, 'environment'>): RequestHandler {
  return (_request, _response, next) => {
    if (context.environment !== 'production') return next();
    throw new ApiError('test_not_available_in_production', 'This is production.');
  };
}

/** POST /merchant/webhook-endpoints/{id}/test: one webhook, one attempt (docs/decisions.md, "Test webhooks"). */
export function testEndpoint(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const endpoint = await findEndpoint(context, request, response);
    const body: TestBody = request.body;
    const { type } = body;
    requireKind([type], endpoint.notices !== undefined);
    const merchant = await context.store.merchants.get(endpoint.merchantId);
    const content = isNoticeType(type)
      ? testNotice(context, endpoint, { ...body, type })
      : testEvent(context, endpoint, merchant, { ...body, type });
    if (body.signed_with === 'prepared' && !endpoint.prepared) throw notPrepared();
    const asked = deliveryOf(endpoint, content, response.locals.requestId, body.signed_with);
    // Starts waiting before the publish: the attempt may end at once.
    const wait = waitFor(context, request, response, asked.deliveryId);
    await auditRequest(context, response, {
      ...{ merchantId: asked.merchantId, endpointId: asked.endpointId, action: 'delivery.test' },
      details: auditedTest(asked),
    });
    await publishRequested(context, asked);
    const ids = { delivery_uuid: asked.deliveryId, event_uuid: asked.eventId };
    const warnings = warningsFor(endpoint, type, merchant);
    const result = wait && (await wait.attempted) ? await resultOf(context, asked) : undefined;
    if (response.destroyed) return;
    if (!wait || !result) return sendJson(response, 202, { ...ids, status: 'queued', warnings });
    response.setHeader('Preference-Applied', `wait=${wait.seconds}`);
    sendJson(response, 200, { ...ids, ...result, warnings });
  };
}

function auditedTest({ deliveryId, type, subType, signedWith }: RequestedDelivery) {
  return { deliveryId, type, subType, ...(signedWith === undefined ? {} : { signedWith }) };
}

/** Checks as well that the endpoint's version has the type and the subType. */
function checkCombination(named: EventNamed, version: ApiVersion): void {
  checkEventNamed(named);
  const { type, subType } = named;
  if (!typesOf(version).includes(type)) {
    const detail = `Version ${version} has the types ${typesOf(version).join(', ')}.`;
    throw new ApiError('type_not_in_api_version', detail);
  }
  if (!subTypesOf(type, version).includes(subType)) {
    const detail = `${type} in version ${version} has the subTypes ${subTypesOf(type, version).join(', ')}.`;
    throw new ApiError('type_not_in_api_version', detail);
  }
}

/** Returns a realistic event, the same for the same event uuid. */
function sampleOf(context: ApiContext, endpoint: EndpointRecord, body: EventNamed): DomainEvent {
  const eventId = context.random.uuid();
  return sampleEvent({
    eventId,
    seed: eventId,
    simulated: true,
    type: body.type,
    subType: body.subType,
    merchantId: endpoint.merchantId,
    ...entityOf(body),
    occurredAt: wholeNow(context.clock),
  });
}

/** Returns the webhook of a sampled event. Throws ApiError when the endpoint's version has no such event. */
function testEvent(
  context: ApiContext,
  endpoint: EndpointRecord,
  merchant: Merchant | undefined,
  named: EventNamed,
): TestContent {
  checkCombination(named, endpoint.apiVersion);
  const event = sampleOf(context, endpoint, named);
  const { eventId, entityId, type, subType, occurredAt } = event;
  const rendered = renderBody(event, endpoint.apiVersion, {
    senderAccountDetails: merchant?.senderAccountDetails ?? false,
  });
  if (rendered.kind !== 'rendered') throw new Error(`the sample of ${type} ${subType} cannot be rendered`);
  const subjectId = subjectIdOf(event);
  return { eventId, entityId, subjectId, type, subType, occurredAt, body: rendered.body };
}

function deliveryOf(
  { uuid, merchantId, apiVersion }: EndpointRecord,
  content: TestContent,
  requestId: string,
  signedWith: SignedWith | undefined,
): RequestedDelivery {
  return {
    ...content,
    deliveryId: requestedDeliveryId(requestId, content.eventId, uuid),
    ...{ merchantId, endpointId: uuid, apiVersion },
    ...{ sequence: NO_SEQUENCE, trigger: 'test', attemptsMax: 1 },
    ...(signedWith === undefined ? {} : { signedWith }),
  };
}

/** Starts waiting for the attempt when `Prefer: wait=15` (RFC 7240 §4.3) asks for it; otherwise returns undefined. */
function waitFor(context: ApiContext, request: Request, response: Response, deliveryId: string) {
  const asked = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?(?:$|[,;\s])/i.exec(request.get('prefer') ?? '')?.[1];
  const seconds = Math.min(Number(asked ?? 0), context.limits.testWaitSecondsMax);
  if (seconds === 0) return undefined;
  const over = new AbortController();
  const gone = goneSignal(response);
  const cancel = context.clock.at(context.clock.now() + seconds * 1000, () => over.abort());
  const signal = AbortSignal.any([over.signal, gone, context.stopping]);
  const attempted = context.store.log.waitForAttempt(deliveryId, signal);
  // Awaited only after the publish; if that fails, this rejection is of no interest.
  attempted.catch(() => undefined).finally(cancel);
  return { seconds, attempted };
}

async function resultOf(context: ApiContext, asked: RequestedDelivery) {
  const delivery = await context.store.log.delivery(asked.merchantId, asked.endpointId, asked.deliveryId);
  if (delivery === undefined) return undefined;
  const attempt = delivery.attempts.at(-1);
  const preview = attempt?.response?.body.subarray(0, PREVIEW_BYTES);
  return {
    status: delivery.status,
    response_status: attempt?.response?.status ?? null,
    duration_ms: attempt === undefined ? null : rounded(attempt.durationMs),
    failure_code: attempt?.failureCode ?? null,
    response_body_preview: preview === undefined ? null : Buffer.from(preview).toString('utf8'),
  };
}

/** Returns a warning for each reason why a real webhook of this type would not be sent. */
function warningsFor(endpoint: EndpointRecord, type: WebhookType, merchant: Merchant | undefined) {
  const real = `real ${isNoticeType(type) ? 'notices' : 'events'}`;
  const warnings: { readonly code: string; readonly detail: string }[] = [];
  if (endpoint.status !== 'active') {
    const detail = `The endpoint is ${endpoint.status}: ${real} are not sent to it.`;
    warnings.push({ code: 'endpoint_not_active', detail });
  }
  if (!subscribes(endpoint, type)) {
    const detail = `subscribed_events does not include ${type}: ${real} of this type are not sent to it.`;
    warnings.push({ code: 'filtered', detail });
  }
  if (merchant?.state === 'paused') {
    const detail =
      'The operator has put your deliveries on hold: they, and this test, are sent when the hold ends.';
    warnings.push({ code: 'deliveries_held', detail });
  }
  return warnings;
}
