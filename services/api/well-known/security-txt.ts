import type { RequestHandler } from 'express';
import type { SecurityTxt } from '../../config/well-known/well-known-config.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type ApiContext, systemNow } from '../context.ts';
import { ApiError } from '../problem.ts';
import { sendDocument } from './send-document.ts';

const MAX_AGE_SECONDS = 3600;
/** Time before the end at which a start begins to remind of it. */
const REMINDED_MS = 30 * 86_400_000;

/**
 * GET /.well-known/security.txt: where to report a security problem (RFC 9116). A document that has expired must not be
 * used, so it is not served.
 */
export function securityTxt({ options, clock }: Pick<ApiContext, 'options' | 'clock'>): RequestHandler {
  const { securityTxt: contents } = options;
  return (_request, response) => {
    if (contents === null)
      throw new ApiError(
        'route_not_found',
        'The operator of this service has not said where to report security problems (HOOKRAIL_SECURITY_CONTACTS).',
      );
    if (contents.expires <= systemNow(clock))
      throw new ApiError(
        'route_not_found',
        `security.txt has expired at ${shown(contents)}: the operator of this service has to renew it (HOOKRAIL_SECURITY_EXPIRES).`,
      );
    sendDocument(response, {
      type: 'text/plain; charset=utf-8',
      text: textOf(contents),
      maxAgeSeconds: MAX_AGE_SECONDS,
    });
  };
}

/** Logs at the start that the document has expired, or will within a month: a date must not keep a service from starting. */
export function remindOfExpiry(
  contents: SecurityTxt | null,
  { clock, log }: { readonly clock: Pick<Clock, 'wall' | 'system'>; readonly log: Logger },
): void {
  if (contents === null) return;
  const left = contents.expires - systemNow(clock);
  if (left > REMINDED_MS) return;
  const says =
    left > 0 ? `expires at ${shown(contents)}` : `has expired at ${shown(contents)}, and is not served`;
  log.warn(
    { event: 'security_txt_expires', expires: shown(contents) },
    `/.well-known/security.txt ${says}: set HOOKRAIL_SECURITY_EXPIRES to a later time`,
  );
}

const shown = ({ expires }: Pick<SecurityTxt, 'expires'>) => new Date(expires).toISOString();

function textOf({ contacts, expires, policy, languages }: SecurityTxt): string {
  const lines = [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${shown({ expires })}`,
    ...(policy === '' ? [] : [`Policy: ${policy}`]),
    ...(languages.length === 0 ? [] : [`Preferred-Languages: ${languages.join(', ')}`]),
  ];
  return `${lines.join('\n')}\n`;
}
