/**
 * Schemathesis for tests: installed once from PyPI into the user's cache, each file verified by its hash. Without a
 * suitable Python the tests are skipped and the reason is printed; with HOOKRAIL_REQUIRE_SCHEMATHESIS=1 they fail.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { cacheFolder } from '../../../scripts/cache-folder.ts';

const REQUIREMENTS = 'test/schemathesis/requirements.txt';
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

/** Declares a suite that gets the path of a Python with Schemathesis. Must be awaited at the top of a test file. */
export async function describeWithSchemathesis(
  title: string,
  suite: (python: () => Promise<string>) => void,
): Promise<void> {
  const { code } = await runProgram('python3', ['-c', PROBE]);
  const isAvailable = code === 0;
  if (!isAvailable) {
    const missing = `Schemathesis needs Python 3.11 or newer with venv, but \`python3\` is missing, older, or lacks venv. ${ADVICE}`;
    if (process.env.HOOKRAIL_REQUIRE_SCHEMATHESIS === '1') throw new Error(missing);
    console.warn(`skipped: ${missing}`);
  }
  describe.skipIf(!isAvailable)(title, () => suite(install));
}

/** Returns the Python of the environment. Rejects with the last lines of the failed command's output. */
async function install(): Promise<string> {
  const requirements = readFileSync(REQUIREMENTS);
  const version = createHash('sha256').update(requirements).digest('hex').slice(0, 16);
  const folder = await cacheFolder(
    `schemathesis-${version}`,
    { environment: process.env },
    async (target) => {
      console.log('[schemathesis] Fetching Schemathesis from PyPI, once …');
      await mustRun('python3', ['-m', 'venv', target]);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
      await mustRun(pythonOf(target), [
        ...pip,
        '--require-hashes',
        '--only-binary',
        ':all:',
        '-r',
        REQUIREMENTS,
      ]);
    },
  );
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
