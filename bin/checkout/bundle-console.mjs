// Bundles the console for browsers: one script, parts that are loaded when a screen needs them, one style sheet, all with
// their hash in the name, and beside each what a browser that takes gzip gets.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const SCRIPT = 'console/main.tsx';
const STYLE = 'console/styles/main.css';
const PAGE = 'console/index.html';
const ICON = 'console/icon.svg';
/** Where the service serves what has its hash in the name. */
const ASSETS = '/console/assets';

/** Returns the files of the console, by their path below dist; none where there are no sources of it. */
export async function bundleConsole(root, compile) {
  if (!existsSync(join(root, SCRIPT))) return new Map();
  const { outputFiles, metafile } = await compile({
    absWorkingDir: root,
    entryPoints: [SCRIPT, STYLE],
    outdir: join(root, 'dist/console/assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: true,
    legalComments: 'linked',
    metafile: true,
    write: false,
    logLevel: 'warning',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, useDefineForClassFields: true } },
  });
  const nameOf = (source) => {
    const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source);
    return `${ASSETS}/${basename(path)}`;
  };
  const page = readFileSync(join(root, PAGE), 'utf8')
    .replace('%script%', nameOf(SCRIPT))
    .replace('%style%', nameOf(STYLE))
    .replace('%icon%', `${ASSETS}/${basename(ICON)}`);
  const assets = outputFiles.map(({ path, contents }) => [
    `console/assets/${basename(path)}`,
    Buffer.from(contents),
  ]);
  assets.push([`console/assets/${basename(ICON)}`, readFileSync(join(root, ICON))]);
  return new Map([
    ['console/index.html', Buffer.from(page)],
    ...assets,
    ...assets.map(([path, contents]) => [`${path}.gz`, gzipSync(contents, { level: 9 })]),
  ]);
}
