import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * Pages load everything from here, so they work without the internet, and nothing in them is inline. Pages of
 * `frameAncestors` may embed them; without any, none may.
 */
export function pageHeaders(frameAncestors: readonly string[] = []): RequestHandler {
  const set = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: frameAncestors.length === 0 ? ["'none'"] : [...frameAncestors],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: false,
    xFrameOptions: frameAncestors.length === 0 ? { action: 'sameorigin' } : false,
  });
  return (request, response, next) => {
    // It names no origin: where some may embed the page, frame-ancestors says which.
    if (frameAncestors.length > 0) response.removeHeader('X-Frame-Options');
    set(request, response, next);
  };
}
