// Installs what is missing before a command runs: a fresh clone has no node_modules, and a newcomer should not have to
// know. `--omit=dev` is enough to run hookrail; tests and scripts need the rest too. Plain JavaScript, because nothing is
// installed yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Returns the arguments of the npm that installs what is missing, or undefined when all is there. The test tools are
 * installed when they are asked for, and kept where they are: `npm ci` removes what it omits.
 */
export function missingDependencies(root, { withDev }) {
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  const wanted = Object.entries(packagesOf(join(root, 'package-lock.json')) ?? {}).filter(
    ([path, entry]) => path !== '' && !entry.optional && !entry.devOptional,
  );
  const has = ([path, { version }]) => present?.[path]?.version === version;
  const needed = wanted.filter(([, entry]) => !entry.dev);
  const tools = wanted.filter(([, entry]) => entry.dev);
  const isComplete = needed.every(has) && (!withDev || tools.every(has));
  if (isComplete) return undefined;
  const hasTools = tools.some(([path]) => present?.[path] !== undefined);
  return ['ci', '--no-audit', '--no-fund', ...(withDev || hasTools ? [] : ['--omit=dev'])];
}

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined;
}

/** Installs what is missing; npm's own output goes to standard error. Ends the process when that fails. */
export function ensureDependencies(root, options) {
  const args = missingDependencies(root, options);
  if (args === undefined) return;
  process.stderr.write(`installing dependencies, once: npm ${args.join(' ')} …\n`);
  const result = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status === 0) return;
  process.stderr.write(
    'npm ci failed; its output is above. Check the network and the npm registry, then try again.\n',
  );
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureDependencies(fileURLToPath(new URL('..', import.meta.url)), { withDev: true });
}
