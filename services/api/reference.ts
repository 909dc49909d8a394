import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from './auth.ts';

/** Rendered by scripts/generate-reference.ts. */
const FOLDER = fileURLToPath(new URL('../../schemas/reference', import.meta.url));

/** The values of the placeholders in the reference's samples. Only the sandbox has them. */
export interface SandboxAccess {
  readonly merchantKey: string;
  readonly producerKey: string;
  readonly merchantId: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
};

export interface ReferenceFile {
  readonly type: string;
  readonly text: string;
  readonly isPage: boolean;
}

/** Reads every file of the reference, by its address below /docs/; a page has no ending there. */
export function readReference(): ReadonlyMap<string, ReferenceFile> {
  const files = new Map<string, ReferenceFile>();
  for (const entry of readdirSync(FOLDER, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(FOLDER.length + 1).replaceAll('\\', '/');
    const ending = name.slice(name.lastIndexOf('.') + 1);
    const isPage = ending === 'html';
    const address = isPage ? name.slice(0, -'.html'.length).replace(/^index$/, '') : name;
    const type = MEDIA_TYPES[ending] ?? 'application/octet-stream';
    files.set(address, { type, text: readFileSync(path, 'utf8'), isPage });
  }
  return files;
}

/** Loopback addresses, also as IPv6 writes IPv4. */
const LOOPBACK = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/;
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
/** A host that can stand in a page as it is. */
const HOST = /^(?:[\w.-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * Fills in the placeholders of a page: the address at which it was asked for, and the sandbox's keys. Only this machine
 * gets the keys, and only under a name of its own, so that no site which a browser here visits can read them
 * (DNS rebinding).
 */
export function filledIn(
  text: string,
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  environment: Environment,
  access: SandboxAccess | undefined,
): string {
  const { host = '' } = request.headers;
  const isHere = LOCAL_HOST.test(host) && LOOPBACK.test(request.socket.remoteAddress ?? '');
  const known = environment === 'sandbox' && isHere ? access : undefined;
  const mode = environment === 'sandbox' ? 'sandbox' : 'live';
  // The sandbox speaks plain HTTP; production stands behind a TLS terminator.
  const scheme = environment === 'sandbox' ? 'http' : 'https';
  const values: Readonly<Record<string, string>> = {
    'base-url': HOST.test(host) ? `${scheme}://${host}` : 'https://api.example.com',
    'merchant-key': known?.merchantKey ?? `sk_${mode}_…`,
    'producer-key': known?.producerKey ?? `pk_${mode}_…`,
    'merchant-id': known?.merchantId ?? '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10',
  };
  return text.replaceAll(/\{\{([a-z-]+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
