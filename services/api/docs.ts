import { readFileSync } from 'node:fs';
import type { Express, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { DOCS_PASS_PARAMETER } from '../domain/access/docs-pass.ts';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import type { Environment } from './auth.ts';
import { pageHeaders } from './console/page-headers.ts';
import { ASYNCAPI_FILE, DESCRIPTION_FILE, LLMS_FILE } from './description.ts';
import { filledIn, readReference, type SandboxAccess } from './reference.ts';
import { DocsVisits } from './sandbox/docs-visits.ts';
import { etagOf, sendDocument } from './well-known/send-document.ts';

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
 * Serves the descriptions at /openapi.yaml and /asyncapi.yaml, the reference at /docs, its list for language models at
 * /llms.txt, and at / where they are. All are public: they contain nothing secret, but for the sandbox's keys, which only
 * browsers see that opened a link of the sandbox's owner.
 */
export function mountDocs(
  app: Express,
  environment: Environment,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Docs {
  const files = readReference();
  let shown: { readonly access: SandboxAccess; readonly visits: DocsVisits } | undefined;
  app.get('/', mark('/'), (request, response) => {
    response.setHeader('Vary', 'Accept');
    response.setHeader('Cache-Control', 'no-cache');
    // A client that names no preference gets JSON, as from every other path.
    if (request.accepts(['json', 'html']) === 'html') response.redirect(302, '/docs/');
    else response.json(WHERE);
  });
  for (const [path, type, file] of DOCUMENTS) {
    const text = readFileSync(file, 'utf8');
    const document = { type, text, etag: etagOf(text), maxAgeSeconds: 0 };
    app.get(path, mark(path), (_request, response) => sendDocument(response, document));
  }
  app.get('/docs', mark('/docs'), (_request, response) => response.redirect(302, '/docs/'));
  app.get('/docs/{*path}', mark('/docs'), pageHeaders(), (request, response, next) => {
    const file = files.get(request.path.slice('/docs/'.length));
    if (file === undefined) return next();
    const { type, text } = file;
    if (file.kind === 'asset') return sendDocument(response, { type, text, maxAgeSeconds: 0 });
    const filled = (access: SandboxAccess | undefined, hasKeys: boolean) =>
      filledIn(text, request.headers, environment, { access, hasKeys });
    if (file.kind === 'markdown')
      return sendDocument(response, { type, text: filled(undefined, false), maxAgeSeconds: 0 });
    const link: unknown = request.query[DOCS_PASS_PARAMETER];
    if (link !== undefined && shown) return enter(request, response, shown.visits, String(link));
    const access = shown?.visits.has(request) ? shown.access : undefined;
    sendPage(response, type, filled(access, shown !== undefined));
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

/** Kept by caches, which ask each time whether they are still the same: a newer build may have others. */
const DOCUMENTS = [
  ['/openapi.yaml', 'application/yaml', DESCRIPTION_FILE],
  ['/asyncapi.yaml', 'application/yaml', ASYNCAPI_FILE],
  ['/llms.txt', 'text/plain; charset=utf-8', LLMS_FILE],
] as const;

/** The response to GET / for programs. */
const WHERE = {
  name: 'hookrail',
  reference: '/docs/',
  description: '/openapi.yaml',
  events: '/asyncapi.yaml',
  pages: '/llms.txt',
  sources: '/.well-known/webhook-sources',
  console: '/console/',
  merchant_api: '/merchant/webhook-endpoints',
  producer_api: '/producer/events',
  health: '/readyz on the operations port (HOOKRAIL_OPS_PORT)',
};

/** Sends a page, which may have keys in it. */
function sendPage(response: Response, type: string, text: string): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-store');
  response.send(text);
}

function mark(route: string): RequestHandler {
  return (_request, response, next) => {
    response.locals.route = route;
    next();
  };
}
