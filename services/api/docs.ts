import { readFileSync } from 'node:fs';
import type { Express, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { DOCS_PASS_PARAMETER } from '../domain/access/docs-pass.ts';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import type { Environment } from './auth.ts';
import { pageHeaders } from './console/page-headers.ts';
import { DESCRIPTION_FILE } from './description.ts';
import { filledIn, type ReferenceFile, readReference, type SandboxAccess } from './reference.ts';
import { DocsVisits } from './sandbox/docs-visits.ts';

/** Headers for responses that no browser should render. HSTS is left to the TLS terminator. */
export const apiHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  strictTransportSecurity: false,
});

export interface Docs {
  /**
   * Shows the sandbox's keys in the samples of the reference to browsers that opened a link signed with them. In
   * production it does nothing.
   */
  fillIn(access: SandboxAccess): void;
}

/**
 * Serves the API description at /openapi.yaml, the reference at /docs, and at / where they are. All are public: they
 * contain nothing secret, but for the sandbox's keys, which only browsers see that opened a link of the sandbox's owner.
 */
export function mountDocs(
  app: Express,
  environment: Environment,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Docs {
  const description = readFileSync(DESCRIPTION_FILE, 'utf8');
  const files = readReference();
  let shown: { readonly access: SandboxAccess; readonly visits: DocsVisits } | undefined;
  app.get('/', mark('/'), (request, response) => {
    response.setHeader('Vary', 'Accept');
    response.setHeader('Cache-Control', 'no-cache');
    // A client that names no preference gets JSON, as from every other path.
    if (request.accepts(['json', 'html']) === 'html') response.redirect(302, '/docs/');
    else response.json(WHERE);
  });
  app.get('/openapi.yaml', mark('/openapi.yaml'), (_request, response) => {
    response.setHeader('Content-Type', 'application/yaml');
    response.setHeader('Cache-Control', 'no-cache');
    response.send(description);
  });
  app.get('/docs', mark('/docs'), (_request, response) => response.redirect(302, '/docs/'));
  app.get('/docs/{*path}', mark('/docs'), pageHeaders(), (request, response, next) => {
    const file = files.get(request.path.slice('/docs/'.length));
    if (file === undefined) return next();
    if (!file.isPage) return sendFile(response, file, file.text);
    const link: unknown = request.query[DOCS_PASS_PARAMETER];
    if (link !== undefined && shown) return enter(request, response, shown.visits, String(link));
    const access = shown?.visits.has(request) ? shown.access : undefined;
    const hasKeys = shown !== undefined;
    sendFile(response, file, filledIn(file.text, request.headers, environment, { access, hasKeys }));
  });
  return {
    fillIn: (given) => {
      if (environment === 'sandbox') shown = { access: given, visits: new DocsVisits(given, clock, random) };
    },
  };
}

/** Replaces the page when a link is refused, so that its owner notices that somebody else has used it. */
const LINK_REFUSED =
  'This link has been used, is older than 15 minutes, is from before the last start, or came through a proxy.\n' +
  'Print a new one: npx --no hookrail sim docs\n' +
  'The reference without keys is at /docs/\n';

/** Lets a browser in that opens a link: the page is then read without the pass in its address. */
function enter(request: Request, response: Response, visits: DocsVisits, link: string): void {
  response.setHeader('Cache-Control', 'no-store');
  // A program that only looks whether the link is there does not use it.
  const cookie = request.method === 'GET' ? visits.enter(link, request) : null;
  if (cookie) response.setHeader('Set-Cookie', cookie);
  if (cookie || visits.has(request)) response.redirect(303, request.path);
  else response.status(403).type('text/plain').send(LINK_REFUSED);
}

/** The response to GET / for programs. */
const WHERE = {
  name: 'hookrail',
  reference: '/docs/',
  description: '/openapi.yaml',
  console: '/console/',
  merchant_api: '/merchant/webhook-endpoints',
  producer_api: '/producer/events',
  health: '/readyz on the operations port (HOOKRAIL_OPS_PORT)',
};

function sendFile(response: Response, { type, isPage }: ReferenceFile, text: string): void {
  response.setHeader('Content-Type', type);
  // A page may have keys in it.
  response.setHeader('Cache-Control', isPage ? 'no-store' : 'no-cache');
  response.send(text);
}

function mark(route: string): RequestHandler {
  return (_request, response, next) => {
    response.locals.route = route;
    next();
  };
}
