import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** Returns an HTML page, or where a request is sent on to. */
type Page = () => Promise<string | { readonly to: string }>;

/** Web sites with names of their own over HTTPS, for a browser on this machine: the console's, and those of other pages. */
export interface Sites {
  origin(name: string): string;
  /** Passes the requests of a name on to a server, as a proxy with its certificate does. `without`: drops a header of its responses. */
  lead(name: string, to: string, without?: string): void;
  show(name: string, path: string, page: Page): void;
  close(): Promise<void>;
}

/** Starts the sites below `localhost`, of which browsers know that it is this machine. */
export async function startSites(certificate: {
  readonly certPem: string;
  readonly keyPem: string;
}): Promise<Sites> {
  const behind = new Map<string, { readonly url: URL; readonly without: string | undefined }>();
  const pages = new Map<string, Page>();
  const server = createServer(
    { cert: certificate.certPem, key: certificate.keyPem },
    (incoming, outgoing) => {
      const host = String(incoming.headers.host);
      const target = behind.get(host);
      if (target !== undefined) {
        const { hostname, port } = target.url;
        const { url: path, method, headers } = incoming;
        const passed = request({ hostname, port, path, method, headers, setHost: false }, (response) => {
          const passedOn = Object.entries(response.headers).filter(([name]) => name !== target.without);
          outgoing.writeHead(response.statusCode ?? 502, Object.fromEntries(passedOn));
          response.pipe(outgoing);
        });
        passed.once('error', () => outgoing.destroy());
        outgoing.once('close', () => passed.destroy());
        incoming.pipe(passed);
        return;
      }
      const page = pages.get(host + String(incoming.url).split('?')[0]);
      if (page === undefined) return void outgoing.writeHead(404).end();
      page().then((shown) => {
        if (typeof shown !== 'string') return void outgoing.writeHead(302, { location: shown.to }).end();
        outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(shown);
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hostOf = (name: string) => `${name}.localhost:${port}`;
  return {
    origin: (name) => `https://${hostOf(name)}`,
    lead: (name, to, without) => void behind.set(hostOf(name), { url: new URL(to), without }),
    show: (name, path, page) => void pages.set(hostOf(name) + path, page),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
