import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Accent, accentsOf } from '../../config/colours.ts';
import type { ConsoleBrand } from '../../config/console-brand.ts';
import { ConfigError } from '../../config/variables.ts';
import { messageOf } from '../../messages/error-message.ts';
import type { Asset, ConsoleFiles } from './files.ts';

const ASSETS = '/console/assets/';
const ICON = `${ASSETS}icon.svg`;
const IMAGE_BYTES_MAX = 256 * 1024;
const IMAGES: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
};
/** As the bundle of the style sheet has it: without a space before it. */
const DARK = /\(prefers-color-scheme:\s*dark\)/g;

/**
 * Returns the files of the console as the operator wants them to look. Everything of it is a file of this host, so the
 * page's policy stays as strict. Throws ConfigError when an image cannot be used.
 */
export function brandedFiles(
  { page, assets }: ConsoleFiles,
  brand: ConsoleBrand,
  frameAncestors: readonly string[],
): ConsoleFiles {
  const all = new Map(assets);
  const add = (name: string, extension: string, asset: Pick<Asset, 'type' | 'plain'>): string => {
    const hash = createHash('sha256').update(asset.plain).digest('hex').slice(0, 8).toUpperCase();
    const file = `${name}-${hash}${extension}`;
    all.set(file, { ...asset, gzip: gzipSync(asset.plain), isHashed: true });
    return ASSETS + file;
  };
  const addImage = (variable: string, name: string, path: string) =>
    path === '' ? '' : add(name, extname(path).toLowerCase(), image(variable, path));
  const logo = addImage('HOOKRAIL_CONSOLE_LOGO_FILE', 'logo', brand.logoFile);
  const icon = addImage('HOOKRAIL_CONSOLE_ICON_FILE', 'icon', brand.iconFile) || ICON;
  const [, style = ''] = /href="\/console\/assets\/(main-[^"]+\.css)"/.exec(page) ?? [];
  const text = all.get(style)?.plain.toString('utf8') ?? '';
  const type = 'text/css; charset=utf-8';
  const own = styleOf(text, brand);
  const branded = own === text ? ASSETS + style : add('main', '.css', { type, plain: Buffer.from(own) });
  const values: Readonly<Record<string, string>> = {
    name: brand.name,
    logo,
    help: brand.helpUrl,
    'frame-ancestors': frameAncestors.join(' '),
    'color-scheme': schemeOf(brand),
  };
  const filled = page
    .replace(ASSETS + style, branded)
    .replace(ICON, icon)
    .replaceAll(/%([a-z-]+)%/g, (whole, name: string) => escaped(values[name] ?? whole));
  return { page: filled, assets: all };
}

/** Returns the style sheet in the colours and the theme of the brand. */
function styleOf(text: string, brand: ConsoleBrand): string {
  const { theme, accent } = brand;
  const query = { auto: '(prefers-color-scheme:dark)', light: 'not all', dark: 'all' }[theme];
  const themed = theme === 'auto' ? text : text.replaceAll(DARK, ` ${query}`);
  const scheme = theme === 'auto' ? '' : `:root{color-scheme:${theme}}`;
  if (accent === '') return themed + scheme;
  const { light, dark } = accentsOf(accent);
  return `${themed}${scheme}:root{${rules(light)}}@media ${query}{:root{${rules(dark)}}}`;
}

const rules = ({ accent, soft, onAccent }: Accent) =>
  `--accent:${accent};--accent-soft:${soft};--on-accent:${onAccent}`;

const schemeOf = ({ theme }: ConsoleBrand) => (theme === 'auto' ? 'light dark' : theme);

function image(variable: string, path: string): Pick<Asset, 'type' | 'plain'> {
  const type = IMAGES[extname(path).toLowerCase()];
  try {
    if (type === undefined) throw new Error('its name must end with .svg, .png or .webp');
    const plain = readFileSync(path);
    if (plain.length > IMAGE_BYTES_MAX) throw new Error('it is larger than 256 KiB');
    return { type, plain };
  } catch (error) {
    throw new ConfigError(`${variable}="${path}" cannot be used: ${messageOf(error)}`);
  }
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };

function escaped(text: string): string {
  return text.replaceAll(/[&"<>]/g, (found) => ENTITIES[found] ?? found);
}
