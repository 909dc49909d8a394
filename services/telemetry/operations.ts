import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler, type Router } from 'express';
import type { Registry } from 'prom-client';
import { ConfigError } from '../config/config.ts';
import { HostNames, shownHost } from '../process/access/host-names.ts';
import { isFromHere } from '../process/access/this-machine.ts';
import { Connections } from '../process/connections.ts';
import { acceptedMax } from '../process/descriptors.ts';

/** Enough for probes, scrapes and operators. */
const CONNECTIONS_MAX = 256;
const REQUEST_MS_MAX = 10_000;

export interface Readiness {
  readonly ready: boolean;
  /** The reasons why it is not ready, one line each; empty when ready. */
  readonly reasons: readonly string[];
  /** Waiting work, one line each; it does not make the process unready. */
  readonly waiting: readonly string[];
}

export interface Operations {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves /livez (the event loop is running), /readyz (work can be done now) and /metrics (Prometheus text), and mounts
 * the operator's commands and console. Rejects with ConfigError when the port is taken.
 */
export async function startOperations(options: {
  readonly host: string;
  readonly port: number;
  /** Names that it answers to, beside `host`, `localhost` and addresses. */
  readonly names: readonly string[];
  readonly registry: Registry;
  readonly readiness: () => Readiness;
  /** Routers to mount, by their path. */
  readonly routes?: Readonly<Record<string, Router>>;
  /** File descriptors are scarce: connections are not kept alive. */
  readonly isShort: () => boolean;
}): Promise<Operations> {
  const app = express().disable('x-powered-by');
  app.use(refuseForeignNames(new HostNames([options.host, ...options.names])));
  app.get('/livez', (_request, response) => void response.type('text/plain').send('ok\n'));
  app.get('/readyz', (_request, response) => {
    const readiness = options.readiness();
    response.status(readiness.ready ? 200 : 503).json(readiness);
  });
  app.get('/metrics', async (_request, response) => {
    response.type(options.registry.contentType).send(await options.registry.metrics());
  });
  for (const [path, router] of Object.entries(options.routes ?? {})) app.use(path, router);
  const server = createServer({ headersTimeout: REQUEST_MS_MAX, requestTimeout: REQUEST_MS_MAX });
  new Connections(server, app, {
    connectionsMax: acceptedMax(CONNECTIONS_MAX),
    isShort: options.isShort,
    refuse: (response) => response.writeHead(503).end('too many connections\n'),
  });
  await listen(server, options.host, options.port, 'HOOKRAIL_OPS_PORT');
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    stop: () => closeServer(server),
  };
}

/**
 * Refuses requests under a name that is not the server's, so that no web page reads it by DNS rebinding. From other
 * machines, whose names nobody but their own network has, a name without a dot is enough: that of a container.
 */
function refuseForeignNames(names: HostNames): RequestHandler {
  return (request, response, next) => {
    const { remoteAddress = '', localAddress } = request.socket;
    const { host } = request.headers;
    if (names.has(host, { allowsShort: !isFromHere(remoteAddress, localAddress) })) return next();
    const error =
      `the operations server does not answer to "${shownHost(host)}": ask it by its address, or add the name to ` +
      'HOOKRAIL_OPS_NAMES';
    response.status(421).json({ error });
  };
}

/** Listens, or rejects with ConfigError naming the variable to change. */
export function listen(server: Server, host: string, port: number, variable: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'is in use' : `cannot be bound (${error.code ?? error.message})`;
      reject(
        new ConfigError(`${host}:${port} ${why}: stop what uses it or set ${variable} (0 = any free port)`),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** Stops listening and ends idle connections; resolves when the running requests have been answered. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
