import type { KeyObject } from 'node:crypto';
import type { Endpoint } from '../domain/endpoint.ts';
import { signingKey, signWith } from '../domain/signature.ts';
import type { DeliveryTask } from '../domain/task.ts';
import { authorizationOf, webhookHeaders, webhookTimestamp } from '../domain/webhook-request.ts';
import { SecretMask } from './http/masking/secret-mask.ts';
import type { WebhookRequest } from './http/transport.ts';

/** An endpoint with its secret opened and its URL parsed: made once per version of the endpoint. */
export interface OpenedEndpoint {
  readonly endpoint: Endpoint;
  readonly origin: string;
  readonly path: string;
  readonly key: KeyObject;
  readonly authorization: string;
  readonly mask: SecretMask;
}

/** `secret`: the endpoint's signing secret in plain text. */
export function openEndpoint(endpoint: Endpoint, secret: string): OpenedEndpoint {
  const { origin, pathname, search } = new URL(endpoint.url);
  return {
    endpoint,
    origin,
    path: `${pathname}${search}`,
    key: signingKey(secret),
    authorization: authorizationOf(secret),
    mask: new SecretMask(secret),
  };
}

/** Returns the request of one attempt, and its signature for the journal. `startedAt`: milliseconds. `label`: for
 * the watchdog. */
export function buildRequest(
  task: DeliveryTask,
  opened: OpenedEndpoint,
  startedAt: number,
  label?: string,
): { readonly request: WebhookRequest; readonly signature: string } {
  const signature = signWith(opened.key, task.eventId, webhookTimestamp(startedAt), task.body);
  const headers = webhookHeaders({ delivery: task, startedAt, signature }, opened.authorization);
  const { origin, path, mask } = opened;
  const request = { merchantId: task.merchantId, origin, path, headers, body: task.body, mask, label };
  return { request, signature };
}
