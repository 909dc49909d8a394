import type { KeyObject } from 'node:crypto';
import { type CustomHeader, secretsOf } from '../domain/controls/custom-headers.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { signAsPlatform, signingKey, signWith } from '../domain/signature.ts';
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
  /** The headers of the merchant's own, names and values in turn; null: it has none. */
  readonly headers: readonly string[] | null;
  readonly mask: SecretMask;
}

interface Opened {
  /** The secret that signs, in plain text. */
  readonly secret: string;
  /** Secrets that a response must not show either. */
  readonly others?: readonly string[];
  readonly headers?: readonly CustomHeader[];
}

export function openEndpoint(
  endpoint: Endpoint,
  { secret, others = [], headers = [] }: Opened,
): OpenedEndpoint {
  const { origin, pathname, search } = new URL(endpoint.url);
  return {
    endpoint,
    origin,
    path: `${pathname}${search}`,
    key: signingKey(secret),
    authorization: authorizationOf(secret),
    headers: headers.length === 0 ? null : headers.flatMap(({ name, value }) => [name, value]),
    mask: new SecretMask(secret, ...others, ...secretsOf(headers)),
  };
}

/**
 * Returns the request of one attempt, and its signature for the journal. `startedAt`: milliseconds. `label`: for the
 * watchdog. `platformKey`: the key of the signature v1a, where the endpoint asks for it.
 */
export function buildRequest(
  task: DeliveryTask,
  opened: OpenedEndpoint,
  startedAt: number,
  label?: string,
  platformKey?: KeyObject,
): { readonly request: WebhookRequest; readonly signature: string } {
  const timestamp = webhookTimestamp(startedAt);
  const own = signWith(opened.key, task.eventId, timestamp, task.body);
  const signature = platformKey
    ? `${own} ${signAsPlatform(platformKey, task.eventId, timestamp, task.body)}`
    : own;
  const headers = webhookHeaders({ delivery: task, startedAt, signature }, opened.authorization);
  if (opened.headers) headers.push(...opened.headers);
  const { origin, path, mask } = opened;
  const request = { merchantId: task.merchantId, origin, path, headers, body: task.body, mask, label };
  return { request, signature };
}
