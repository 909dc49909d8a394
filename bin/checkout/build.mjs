// Compiles services and simulator to dist, file by file, bundles threads and the console, and copies what they read:
// `npm run build`, and the executable in a checkout. Plain JavaScript with esbuild, not tsc: a fresh clone without the test
// tools can run it, in a second.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleConsole } from './bundle-console.mjs';
import { bundleThreads } from './bundle-threads.mjs';

const SOURCES = [
  'client',
  'console',
  'services',
  'simulator',
  'schemas',
  'docs/operate/README.md',
  'docs/receivers',
  'openapi.yaml',
  'package.json',
];
/** Says what dist was built from. */
const STAMP = '.built-from';
/** Bundled for browsers, not compiled file by file. */
const BUNDLED = /^(console[/\\]|docs[/\\]operate[/\\])/;
/** Where better-sqlite3 looks for a binary that was compiled on this machine, before it takes the one that it brings. */
export const COMPILED = ['Debug', 'Release'].map(
  (kind) => `node_modules/better-sqlite3/build/${kind}/better_sqlite3.node`,
);
/** The lock of one-at-a-time.mjs. */
const LOCK = '.preparing';

const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.14',
  sourcemap: true,
  sourcesContent: false,
  // The settings that matter of tsconfig.json, whose bases are installed with the test tools only.
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, useDefineForClassFields: true } },
  write: false,
  logLevel: 'warning',
};

/** Returns the paths of the sources, relative to the root. */
function sourcesOf(root) {
  return SOURCES.flatMap((name) => {
    if (statSync(join(root, name)).isFile()) return [name];
    return readdirSync(join(root, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  });
}

/**
 * Returns the times and sizes of the sources and of what compiles them: when they are as before, dist is up to date. With a
 * compiled binary that comes later it is not, so that the packages are looked at again.
 */
function stampOf(root, sources) {
  const tools = [
    'bin/checkout/build.mjs',
    'bin/checkout/bundle-console.mjs',
    'bin/checkout/bundle-threads.mjs',
    'package-lock.json',
    'node_modules/.package-lock.json',
    ...COMPILED,
  ];
  return [...sources, ...tools]
    .map((path) => {
      const { mtimeMs, size } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
      return `${path} ${mtimeMs} ${size}`;
    })
    .sort()
    .join('\n');
}

/** Returns whether dist was built from the sources as they are now. */
export function isBuilt(root) {
  try {
    return readFileSync(join(root, 'dist', STAMP), 'utf8') === stampOf(root, sourcesOf(root));
  } catch {
    return false;
  }
}

/** Builds dist. A file is replaced as a whole, and only when it differs: a process that runs from dist is not disturbed. */
export async function build(root) {
  const { build: compile, stop } = await import('esbuild');
  const dist = join(root, 'dist');
  const sources = sourcesOf(root);
  const stamp = stampOf(root, sources);
  const isModule = (path) => path.endsWith('.ts');
  const modules = sources.filter((path) => isModule(path) && !BUNDLED.test(path));
  const options = { ...OPTIONS, absWorkingDir: root, outdir: dist, outbase: root };
  const { outputFiles } = await compile({
    ...options,
    entryPoints: modules,
    // Every module stays a file: it is loaded when it is needed, and finds its data beside it.
    plugins: [{ name: 'modules stay files', setup: keepImports }],
  });
  const threads = await bundleThreads(modules, options, compile);
  const bundled = await bundleConsole(root, compile);
  // The process goes on, perhaps for weeks: its compiler does not.
  await stop();
  const copies = sources.filter((path) => !isModule(path) && !BUNDLED.test(path));
  const wanted = new Map([
    ...[...outputFiles, ...threads].map(({ path, contents }) => [path, Buffer.from(contents)]),
    ...copies.map((path) => [join(dist, path), readFileSync(join(root, path))]),
    ...[...bundled].map(([path, contents]) => [join(dist, path), contents]),
  ]);
  for (const [path, contents] of wanted) replace(path, contents);
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isKept = wanted.has(path) || entry.name.endsWith('.part') || [STAMP, LOCK].includes(entry.name);
    if (entry.isFile() && !isKept) rmSync(path, { force: true });
  }
  replace(join(dist, STAMP), Buffer.from(stamp));
}

/** Leaves every import as it is, but names the built file. */
function keepImports({ onResolve }) {
  onResolve({ filter: /.*/ }, ({ kind, path }) =>
    kind === 'entry-point' ? undefined : { path: path.replace(/^(\..*)\.ts$/, '$1.js'), external: true },
  );
}

function replace(path, contents) {
  try {
    if (readFileSync(path).equals(contents)) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true });
  }
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, contents);
  renameSync(part, path);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await build(fileURLToPath(new URL('../..', import.meta.url)));
}
