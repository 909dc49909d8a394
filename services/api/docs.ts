import { readFileSync } from 'node:fs';
import type { Express, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Environment } from './auth.ts';
import { DESCRIPTION_FILE } from './description.ts';
import { filledIn, type ReferenceFile, readReference, type SandboxAccess } from './reference.ts';

/** Headers for responses that no browser should render. HSTS is left to the TLS terminator. */
export const apiHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  strictTransportSecurity: false,
});

/** Pages load everything from here, so they work without the internet, and nothing in them is inline. */
const pageHeaders = helmet({
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
      frameAncestors: ["'none'"],
    },
  },
  strictTransportSecurity: false,
});

export interface Docs {
  /** Shows the sandbox's keys in the samples of the reference. In production it does nothing. */
  fillIn(access: SandboxAccess): void;
}

/**
 * Serves the API description at /openapi.yaml, the reference at /docs, and at / where they are. All are public: they
 * contain nothing secret, but for the sandbox's keys, which only this machine gets.
 */
export function mountDocs(app: Express, environment: Environment): Docs {
  const description = readFileSync(DESCRIPTION_FILE, 'utf8');
  const files = readReference();
  let access: SandboxAccess | undefined;
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
  app.get('/docs/{*path}', mark('/docs'), pageHeaders, (request, response, next) => {
    const file = files.get(request.path.slice('/docs/'.length));
    if (file === undefined) return next();
    sendFile(response, file, file.isPage ? filledIn(file.text, request, environment, access) : file.text);
  });
  return {
    fillIn: (given) => {
      if (environment === 'sandbox') access = given;
    },
  };
}

/** The response to GET / for programs. */
const WHERE = {
  name: 'hookrail',
  reference: '/docs/',
  description: '/openapi.yaml',
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
