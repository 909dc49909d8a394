import type { Express, RequestHandler } from 'express';
import type { ApiContext } from '../context.ts';
import { route } from '../routes/mount-route.ts';
import { securityTxt } from './security-txt.ts';
import { getWebhookKeys } from './webhook-keys.ts';
import { webhookSources } from './webhook-sources.ts';

/**
 * Mounts the documents below /.well-known, one line each (RFC 8615). They need no key and say the same to everybody.
 * `validated`: the checks of a request against openapi.yaml, for a document that it describes.
 */
export function mountWellKnown(
  app: Express,
  context: ApiContext,
  validated: readonly RequestHandler[],
): void {
  const document = (name: string, ...handlers: RequestHandler[]) =>
    route(app, `/.well-known/${name}`, { get: handlers });
  document('webhook-keys', ...validated, getWebhookKeys(context));
  document('webhook-sources', ...validated, webhookSources(context));
  document('security.txt', securityTxt(context));
}
