import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where bundles are: in the build of the checkout when the sources run, or beside the built service. */
const PLACES = ['../../../dist/', '../../../'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer | undefined;
  /** Its name has its hash: another content has another name. */
  readonly isHashed: boolean;
}

export interface ConsoleFiles {
  readonly page: string;
  /** By name. */
  readonly assets: ReadonlyMap<string, Asset>;
}

const HASHED = /-[0-9A-Z]{8}\.(?:js|css)$/;

/**
 * Reads a console as it was bundled, the merchants' or the operator's. Reads everything once: a build beside the running
 * service does not disturb it.
 */
export function readConsole(name: 'console' | 'operator-console'): ConsoleFiles {
  const folder = PLACES.map((path) => `${path}${name}/`).find((path) => existsSync(`${path}assets`));
  if (folder === undefined) throw new Error('the console is not built: run `npm run build`');
  const names = readdirSync(`${folder}assets`);
  const assets = names
    .filter((name) => !/\.(?:gz|part)$/.test(name))
    .map((name): [string, Asset] => {
      const read = (path: string) => readFileSync(`${folder}assets/${path}`);
      const gzip = names.includes(`${name}.gz`) ? read(`${name}.gz`) : undefined;
      const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      return [name, { type, plain: read(name), gzip, isHashed: HASHED.test(name) }];
    });
  return { page: readFileSync(`${folder}index.html`, 'utf8'), assets: new Map(assets) };
}
