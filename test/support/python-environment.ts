/**
 * Python with packages, for tests: installed once from PyPI into the user's cache, each file verified by its hash, so that a
 * test uses what others have written and not what this machine happens to have.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/cache-folder.ts';

const ADVICE = 'Install Python 3.11 or newer with venv (Debian: python3 and python3-venv).';
/** Fails if Python is too old, or has no venv and pip, as on a plain Debian. */
const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

interface Ended {
  /** null = killed; undefined = could not be started. */
  readonly code: number | null | undefined;
  readonly output: string;
}

/** Runs a program until it exits. `signal` kills it. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly environment?: Record<string, string>; readonly signal?: AbortSignal } = {},
): Promise<Ended> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    ...(options.signal ? { signal: options.signal, killSignal: 'SIGKILL' } : {}),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: undefined, output }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** Returns why packages cannot be installed on this machine; undefined where they can. */
export async function whyNoPackages(what: string): Promise<string | undefined> {
  const { code } = await runProgram('python3', ['-c', PROBE]);
  if (code === 0) return undefined;
  return `${what} needs Python 3.11 or newer with venv, but \`python3\` is missing, older, or lacks venv. ${ADVICE}`;
}

/**
 * Returns the Python that has the packages of a file with hashes. Rejects with the last lines of the failed command's
 * output. `name`: of its folder in the cache.
 */
export async function pythonWith(name: string, requirements: string): Promise<string> {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = await cacheFolder(`${name}-${version}`, { environment: process.env }, async (target) => {
    console.log(`[${name}] Fetching the packages of ${requirements} from PyPI, once …`);
    await mustRun('python3', ['-m', 'venv', target]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await mustRun(pythonOf(target), [
      ...pip,
      '--require-hashes',
      '--only-binary',
      ':all:',
      '-r',
      requirements,
    ]);
  });
  return pythonOf(folder);
}

/** Python locates its environment by its own path; the other programs contain the path of the folder they were made in. */
function pythonOf(folder: string): string {
  return join(folder, 'bin', 'python');
}

async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runProgram(command, args);
  if (code === 0) return;
  const reason = output.trim().split('\n').slice(-5).join('\n');
  throw new Error(`\`${command} ${args.slice(0, 4).join(' ')} …\` failed. ${ADVICE}\n${reason}`);
}
