import type { Express, RequestHandler } from 'express';
import { ApiError } from '../problem.ts';
import { labelled } from '../request-label.ts';

type Method = 'get' | 'post' | 'patch' | 'delete';
type Handlers = Partial<Record<Method, RequestHandler[]>>;

/** Mounts one path of openapi.yaml with its methods; every other method is a 405 that lists them. */
export function route(app: Express, path: string, handlers: Handlers): void {
  const allowed = Object.keys(handlers).flatMap((name) =>
    name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()],
  );
  app.locals.paths.push(path);
  const mounted = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
  mounted.all((request, response, next) => {
    response.locals.route = path;
    // HEAD is GET without the body (RFC 9110 §9.3.2): Node omits the body by itself.
    if (request.method === 'HEAD' && handlers.get) {
      request.method = 'GET';
      response.locals.isHead = true;
    }
    next();
  });
  for (const [method, chain] of Object.entries(handlers)) mounted[method as Method](...chain.map(labelled));
  mounted.all((request) => {
    const detail = `${path} does not support ${request.method.slice(0, 20)}.`;
    throw new ApiError('method_not_allowed', detail, { headers: { Allow: allowed.join(', ') } });
  });
}
