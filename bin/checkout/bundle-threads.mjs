// Bundles the module of each worker thread with the sources that it imports: a service starts several threads, and a thread
// would read and link a hundred files again.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** In a source, the module of a thread that it starts. */
const STARTS = /\bspawnWorker\(\s*new URL\('(\.[^']+\.ts)'/g;

/** Returns the output files of the threads' modules. `options`: those that every module is compiled with. */
export async function bundleThreads(sources, options, compile) {
  const root = options.absWorkingDir;
  const threads = sources.flatMap((source) =>
    [...readFileSync(join(root, source), 'utf8').matchAll(STARTS)].map(([, path]) =>
      join(dirname(source), path),
    ),
  );
  const bundles = threads.map((thread) =>
    compile({
      ...options,
      entryPoints: [thread],
      packages: 'external',
      plugins: [{ name: 'data stays beside its module', setup: keepBesideData(join(root, dirname(thread))) }],
    }),
  );
  return (await Promise.all(bundles)).flatMap(({ outputFiles }) => outputFiles);
}

/** Leaves modules in their files that find others by their own address. */
function keepBesideData(folder) {
  return ({ onResolve }) =>
    onResolve({ filter: /^\..*\.ts$/ }, ({ kind, path, resolveDir }) => {
      const file = join(resolveDir, path);
      if (kind === 'entry-point' || !readFileSync(file, 'utf8').includes('import.meta.url')) return undefined;
      const from = relative(folder, file).split(sep).join('/').replace(/\.ts$/, '.js');
      return { path: from.startsWith('.') ? from : `./${from}`, external: true };
    });
}
