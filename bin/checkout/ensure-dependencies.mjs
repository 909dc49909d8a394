// Installs what is missing before a command runs: a fresh clone has no node_modules, and a newcomer should not have to
// know. `--omit=dev` is enough to run hookrail; tests and scripts need the rest too. Plain JavaScript, because nothing is
// installed yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chooseNode, pinnedName } from '../runtime.mjs';
import { COMPILED } from './build.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { runningInstall } from './running-install.mjs';

const POLL_MS = 200;
/** Says which version of the pinned Node npm could not install, so that it is not asked again at every start. */
const WITHOUT_NODE = join('node_modules', '.without-node');

/** A binary that has this symbol is loaded by every Node. */
const NODE_API = 'napi_register_module_v1';

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
  const isSound = missingNode(root) === undefined && !hasBinaryOfOneNode(root);
  const isComplete = isSound && needed.every(has) && (!withDev || tools.every(has));
  if (isComplete) return undefined;
  const hasTools = tools.some(([path]) => present?.[path] !== undefined);
  return ['ci', '--no-audit', '--no-fund', ...(withDev || hasTools ? [] : ['--omit=dev'])];
}

/**
 * Returns the version of the pinned Node when it is missing or another one is installed; undefined where none is pinned,
 * and where npm has tried and could not install it.
 */
function missingNode(root) {
  const path = `node_modules/${pinnedName()}`;
  const version = packagesOf(join(root, 'package-lock.json'))?.[path]?.version;
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (present?.[path]?.version === version) return undefined;
  const tried = join(root, WITHOUT_NODE);
  return existsSync(tried) && readFileSync(tried, 'utf8') === version ? undefined : version;
}

/**
 * Returns whether a binary of SQLite was left here that was compiled for one version of Node: better-sqlite3 prefers it to
 * the one that it brings, which every Node loads. One that was compiled on purpose from its present sources is as good.
 */
function hasBinaryOfOneNode(root) {
  return COMPILED.map((path) => join(root, path)).some(
    (file) => existsSync(file) && !readFileSync(file).includes(NODE_API),
  );
}

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined;
}

/**
 * Installs what is missing, after an npm that somebody else has started here; npm's own output goes to standard error. Ends
 * the process when that fails, or when no Node is there that hookrail runs on.
 */
export async function ensureDependencies(root, options) {
  if (missingDependencies(root, options) !== undefined) {
    await othersInstalled(root);
    const args = missingDependencies(root, options);
    if (args !== undefined) install(root, args);
  }
  const { problem } = chooseNode(root);
  if (problem === undefined) return;
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}

async function othersInstalled(root) {
  const pid = runningInstall(root);
  if (pid === undefined) return;
  process.stderr.write(`waiting: npm (process ${pid}) is installing in ${root} …\n`);
  while (runningInstall(root) !== undefined) await sleep(POLL_MS);
}

function install(root, args) {
  process.stderr.write(`installing dependencies, once: npm ${args.join(' ')} …\n`);
  // npm removes node_modules first: it must not run on the Node in there.
  const own = join(root, 'node_modules', '.bin');
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== own);
  // No package needs its install script: each brings its binaries with it. Only that the Node which runs npm is older
  // than some package wants is not worth a word.
  const quiet = { npm_config_ignore_scripts: 'true', npm_config_loglevel: 'error' };
  const env = { ...process.env, ...quiet, PATH: path.join(delimiter) };
  const result = spawnSync('npm', args, { cwd: root, env, stdio: ['ignore', 2, 2] });
  if (result.status === 0) {
    const version = missingNode(root);
    if (version !== undefined) writeFileSync(join(root, WITHOUT_NODE), version);
    return;
  }
  process.stderr.write(
    'npm ci failed; its output is above. Check the network and the npm registry, then try again.\n',
  );
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await oneAtATime(root, () => ensureDependencies(root, { withDev: true }));
}
