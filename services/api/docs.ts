import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { DESCRIPTION_FILE } from './description.ts';

/** Swagger UI's initializer with our description's address. The published one loads an example from another site. */
const INITIALIZER = `window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: '/openapi.yaml',
    dom_id: '#swagger-ui',
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: 'StandaloneLayout',
    validatorUrl: null,
  });
};
`;

/** Headers for responses that no browser should render. HSTS is left to the TLS terminator. */
export const apiHeaders: RequestHandler = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  strictTransportSecurity: false,
});

/** The page loads everything from here, so it works without the internet. Its styles are partly inline. */
const pageHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  strictTransportSecurity: false,
});

/** Serves the API description at /openapi.yaml and as a page at /docs. Both are public: they contain nothing secret. */
export function mountDocs(app: Express): void {
  const description = readFileSync(DESCRIPTION_FILE, 'utf8');
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.get('/openapi.yaml', mark('/openapi.yaml'), (_request, response) => {
    response.setHeader('Content-Type', 'application/yaml');
    response.setHeader('Cache-Control', 'no-cache');
    response.send(description);
  });
  const router = express.Router();
  router.use(mark('/docs'), pageHeaders);
  router.get('/swagger-initializer.js', (_request, response) => {
    response.type('text/javascript').send(INITIALIZER);
  });
  router.use(express.static(assets, { index: 'index.html', dotfiles: 'ignore', maxAge: '1h' }));
  app.use('/docs', router);
}

function mark(route: string): RequestHandler {
  return (_request, response, next) => {
    response.locals.route = route;
    next();
  };
}
