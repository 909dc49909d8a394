import type { Express, Request, RequestHandler, Response } from 'express';
import type { ApiOptions } from '../context.ts';
import { brandedFiles } from './branded-files.ts';
import { type Asset, type ConsoleFiles, readConsole } from './files.ts';
import { pageHeaders } from './page-headers.ts';

const PREFIX = '/console/';
const ASSETS = 'assets/';
const YEAR_SECONDS = 31_536_000;

/**
 * Serves the console at /console/. Each of its screens has an address of its own, which is answered with the one page. The
 * files are public: they contain no data, which the page reads from the merchant API with the session of its browser.
 */
export function mountConsole(
  app: Express,
  {
    consoleFrameAncestors: frameAncestors,
    consoleBrand,
  }: Pick<ApiOptions, 'consoleFrameAncestors' | 'consoleBrand'>,
): void {
  const files = brandedFiles(readConsole('console'), consoleBrand, frameAncestors);
  const marked: RequestHandler = (_request, response, next) => {
    response.locals.route = '/console';
    next();
  };
  app.get('/console', marked, (_request, response) => response.redirect(302, PREFIX));
  app.get('/console/{*path}', marked, pageHeaders(frameAncestors), (request, response, next) => {
    const path = request.path.slice(PREFIX.length);
    // An operation of the API, which has its own route.
    if (path === 'session') return next();
    if (!sendFile(files, path, { request, response })) next();
  });
}

/** Sends the asset of this path, or the one page, which has every other path; returns false when there is no such asset. */
export function sendFile(
  { page, assets }: ConsoleFiles,
  path: string,
  { request, response }: { readonly request: Request; readonly response: Response },
): boolean {
  if (!path.startsWith(ASSETS)) {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.send(page);
    return true;
  }
  const asset = assets.get(path.slice(ASSETS.length));
  if (asset === undefined) return false;
  response.setHeader('Vary', 'Accept-Encoding');
  send(response, asset, request.acceptsEncodings('gzip') === 'gzip');
  return true;
}

function send(response: Response, { type, plain, gzip, isHashed }: Asset, takesGzip: boolean): void {
  response.setHeader('Content-Type', type);
  response.setHeader(
    'Cache-Control',
    isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, max-age=3600',
  );
  if (takesGzip && gzip !== undefined) response.setHeader('Content-Encoding', 'gzip');
  response.send(takesGzip && gzip !== undefined ? gzip : plain);
}
