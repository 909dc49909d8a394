import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from './auth.ts';
import { hostOf } from './sandbox/direct-request.ts';

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
  md: 'text/markdown; charset=utf-8',
  svg: 'image/svg+xml',
};

const KINDS: Readonly<Record<string, ReferenceFile['kind']>> = { html: 'page', md: 'markdown' };

export interface ReferenceFile {
  readonly type: string;
  readonly text: string;
  /** A page may show the sandbox's keys; its Markdown, which programs read, has placeholders for them. */
  readonly kind: 'page' | 'markdown' | 'asset';
}

/** Reads every file of the reference, by its address below /docs/: a page has no ending there, its Markdown has `.md`. */
export function readReference(): ReadonlyMap<string, ReferenceFile> {
  const files = new Map<string, ReferenceFile>();
  for (const entry of readdirSync(FOLDER, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(FOLDER.length + 1).replaceAll('\\', '/');
    const ending = name.slice(name.lastIndexOf('.') + 1);
    const kind = KINDS[ending] ?? 'asset';
    const address = kind === 'page' ? name.slice(0, -'.html'.length).replace(/^index$/, '') : name;
    const type = MEDIA_TYPES[ending] ?? 'application/octet-stream';
    files.set(address, { type, text: readFileSync(path, 'utf8'), kind });
  }
  return files;
}

/** Replaces the keys on a page that has samples with keys, for readers who may not see them. */
const HOW_TO_GET_KEYS =
  '<p class="keys">The samples have placeholders for your sandbox’s keys. To see the keys, open the link that ' +
  '<code>npx --no hookrail sim docs</code> prints.</p>';

/**
 * Fills in the placeholders of a page: the address at which it was asked for, and the sandbox's keys, if the reader may
 * see them (`access`). `hasKeys` tells that there are some, which another reader sees.
 */
export function filledIn(
  text: string,
  { host }: Pick<IncomingMessage['headers'], 'host'>,
  environment: Environment,
  { access, hasKeys }: { readonly access: SandboxAccess | undefined; readonly hasKeys: boolean },
): string {
  const mode = environment === 'sandbox' ? 'sandbox' : 'live';
  // The sandbox speaks plain HTTP; production stands behind a TLS terminator.
  const scheme = environment === 'sandbox' ? 'http' : 'https';
  const isHidden = hasKeys && access === undefined && /\{\{(?:merchant|producer)-key\}\}/.test(text);
  const values: Readonly<Record<string, string>> = {
    'base-url': hostOf(host) === null ? 'https://api.example.com' : `${scheme}://${host}`,
    'merchant-key': access?.merchantKey ?? `sk_${mode}_…`,
    'producer-key': access?.producerKey ?? `pk_${mode}_…`,
    'merchant-id': access?.merchantId ?? '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10',
    'how-to-get-keys': isHidden ? HOW_TO_GET_KEYS : '',
  };
  return text.replaceAll(/\{\{([a-z-]+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
