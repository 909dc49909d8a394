// Which Node hookrail runs on, and how a process goes on with it. Plain JavaScript that Node 20.19 reads: it runs before
// anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The lines of Node that hookrail runs on, each with its first version that has Node-API 10: SQLite's binary ends the
 * process on an older one.
 */
const LINES = { 22: [22, 14], 24: [24, 0], 26: [26, 0] };
const WHERE = 'https://nodejs.org/en/download';
/** Those that end a process, and that it can receive. Any other that ends the launcher ends its child through `disconnect`. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGBREAK'];
/** A terminal sends them to every process in its foreground. */
const FROM_TERMINAL = new Set(['SIGINT', 'SIGQUIT', 'SIGBREAK']);
/** Names the process that started this one with hookrail's own Node. */
const LAUNCHER = 'HOOKRAIL_LAUNCHER';

const numbersOf = (version) => version.replace(/^v/, '').split('.').map(Number);

function isAtLeast(version, wanted) {
  const numbers = numbersOf(version);
  const differs = wanted.findIndex((number, i) => number !== numbers[i]);
  return differs === -1 || numbers[differs] > wanted[differs];
}

/** Returns whether hookrail runs on a version of Node. */
export function isSupported(version) {
  const oldest = LINES[numbersOf(version)[0]];
  return oldest !== undefined && isAtLeast(version, oldest);
}

/** Returns the name of the package that has Node for a machine, where one is published. */
export function pinnedName({ platform, arch } = process) {
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

/** Returns the Node that package.json pins for this machine; undefined where none is published. */
function pinnedFor(root) {
  const name = pinnedName();
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version = optionalDependencies?.[name];
  return version === undefined ? undefined : { name, version };
}

/** Returns the path of the pinned Node; undefined when it is not installed, or in another version. */
function installedPath(root, { name, version }) {
  try {
    const file = createRequire(join(root, 'package.json')).resolve(`${name}/package.json`);
    const installed = JSON.parse(readFileSync(file, 'utf8'));
    return installed.version === version ? join(dirname(file), installed.bin.node) : undefined;
  } catch {
    return undefined;
  }
}

/** Asks a Node for its version: one that was made for another libc, or lies where nothing may be executed, has none. */
function versionOf(path) {
  const { error, stdout, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const [version = ''] = (stdout ?? '').split('\n');
  if (/^v\d/.test(version)) return { version };
  return { reason: error?.message ?? stderr.trim().split('\n')[0] ?? 'it prints no version' };
}

/**
 * Returns the path of the Node that hookrail runs on. That is the pinned one, which every test ran on; the running one
 * instead, without a second process, when it has the same line and is as new. The running one, too, when it is
 * supported and the pinned one is not installed or does not run here. Otherwise the sentence that says what helps.
 */
export function chooseNode(root, running = process.versions.node) {
  const own = { path: process.execPath };
  const pinned = pinnedFor(root);
  if (pinned && numbersOf(running)[0] === numbersOf(pinned.version)[0]) {
    if (isAtLeast(running, numbersOf(pinned.version))) return own;
  }
  const path = pinned && installedPath(root, pinned);
  const { version, reason } = path ? versionOf(path) : {};
  if (version === `v${pinned?.version}`) return { path };
  if (isSupported(running)) return own;
  const lines = 'Node 22 (from 22.14), 24 or 26';
  const here = `hookrail runs on ${lines}, but this is ${running} (${process.execPath})`;
  if (!pinned) return { problem: `${here}: install Node 24, ${WHERE}` };
  const its = `its own Node ${pinned.version} (${pinned.name})`;
  if (path) {
    const why = reason ?? `it says that it is ${version}`;
    return { problem: `${here}, and ${its} does not run on this machine: ${why}; install Node 24, ${WHERE}` };
  }
  const command = existsSync(join(root, 'package-lock.json'))
    ? `npm ci --include=optional (in ${root})`
    : 'npm install --include=optional; give it the name or folder from which you installed hookrail';
  return { problem: `${here}, and ${its} is not installed: ${command}` };
}

/**
 * Goes on with another Node in the place of this process: where Node can, this process becomes the other one. Node before
 * 22.15, and any on Windows, cannot: there the other one is a child, which has the same streams, gets the same signals,
 * ends with this process, and whose end is the end of this process.
 */
export function goOnWith(path) {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  if (process.execve && process.platform !== 'win32') process.execve(path, [path, ...args], process.env);
  const child = spawn(path, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [LAUNCHER]: String(process.pid) },
  });
  const forward = (signal) => {
    if (!FROM_TERMINAL.has(signal) || !isInForeground()) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  child.once('error', (error) => {
    process.stderr.write(`hookrail did not start with ${path}: ${error.message}\n`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const each of SIGNALS) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

/** Returns whether this process is in the foreground of a terminal, whose Ctrl-C its child gets as well. */
function isInForeground() {
  if (process.platform === 'win32') return true;
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // After the name, which may hold spaces: state, parent, group, session, terminal, group in the foreground.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}

/** Ends this process when the launcher that waits for it was killed: its user has nothing else to end it by. */
export function endWithLauncher() {
  const launcher = process.env[LAUNCHER];
  delete process.env[LAUNCHER];
  if (launcher !== String(process.ppid) || !process.channel) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel.unref();
}
