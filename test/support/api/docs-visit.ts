import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import {
  DOCS_PASS_RANDOM_BYTES,
  newDocsPass,
  type SandboxKeys,
} from '../../../services/domain/access/docs-pass.ts';

/** Returns the path of a link to a page of the reference, as the owner of the keys makes one. */
export function docsLinkPath(keys: SandboxKeys, page = '/docs/', at = Date.now()): string {
  return `${page}?pass=${newDocsPass('link', keys, at, randomBytes(DOCS_PASS_RANDOM_BYTES))}`;
}

/** Opens a link as a browser does, and returns the cookie that it then has. */
export async function openDocs(url: string, keys: SandboxKeys): Promise<string> {
  const { status, cookie } = await asked(url, docsLinkPath(keys));
  if (status !== 303 || cookie === undefined) throw new Error(`the link was refused: ${status}`);
  return cookie;
}

export interface Asked {
  readonly status: number;
  readonly text: string;
  readonly headers: Record<string, string | string[] | undefined>;
  /** Name and value of the cookie that the response sets. */
  readonly cookie: string | undefined;
}

/** Sends a request with exactly these headers, without following a redirect. */
export function asked(
  url: string,
  path: string,
  {
    headers = {},
    method = 'GET',
    host,
  }: { headers?: Record<string, string>; method?: string; host?: string } = {},
): Promise<Asked> {
  const { hostname, port, host: own } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = { Host: host ?? own, ...headers };
    request({ host: hostname, port, path, method, setHost: false, headers: sent }, (response) => {
      response.toArray().then((chunks) => {
        const [cookie] = response.headers['set-cookie'] ?? [];
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          headers: response.headers,
          cookie: cookie?.split(';', 1)[0],
        });
      }, reject);
    })
      .on('error', reject)
      .end();
  });
}
