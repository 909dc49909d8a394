// Bundles the consoles for browsers, the merchants' and the operator's, each in a folder of its own: one script, parts that are loaded when a screen needs them, one style sheet, all with
// their hash in the name, and beside each what a browser that takes gzip gets.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The script of each console, by its folder in dist. */
const SCRIPTS = { console: 'console/main.tsx', 'operator-console': 'console/operator/main.tsx' };
const STYLE = 'console/styles/main.css';
const PAGE = 'console/index.html';
const ICON = 'console/icon.svg';
/** Where the service serves what has its hash in the name. */
const ASSETS = '/console/assets';

/** Returns the files of the consoles, by their path below dist; none where there are no sources of them. */
export async function bundleConsole(root, compile) {
  if (!existsSync(join(root, PAGE))) return new Map();
  const bundles = Object.entries(SCRIPTS).map((one) => bundleOne(root, compile, one));
  return new Map((await Promise.all(bundles)).flat());
}

async function bundleOne(root, compile, [folder, script]) {
  const { outputFiles, metafile } = await compile({
    absWorkingDir: root,
    entryPoints: [script, STYLE],
    outdir: join(root, 'dist', folder, 'assets'),
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
    // The runbook, docs/operate/README.md.
    loader: { '.md': 'text' },
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
    .replace('%script%', nameOf(script))
    .replace('%style%', nameOf(STYLE))
    .replace('%icon%', `${ASSETS}/${basename(ICON)}`);
  const assets = outputFiles.map(({ path, contents }) => [
    `${folder}/assets/${basename(path)}`,
    Buffer.from(contents),
  ]);
  assets.push([`${folder}/assets/${basename(ICON)}`, readFileSync(join(root, ICON))]);
  return [
    [`${folder}/index.html`, Buffer.from(page)],
    ...assets,
    ...assets.map(([path, contents]) => [`${path}.gz`, gzipSync(contents, { level: 9 })]),
  ];
}
