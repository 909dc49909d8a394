/**
 * Schemathesis for tests: installed once into the user's cache, from PyPI, each file by its hash. Where there is no
 * Python for it the tests are skipped and the reason is printed; with HOOKRAIL_REQUIRE_SCHEMATHESIS=1 they fail.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { cacheFolder } from '../../../scripts/cache-folder.ts';

const REQUIREMENTS = 'test/schemathesis/requirements.txt';
const ADVICE = 'Install Python 3.11 or newer with venv (Debian: python3 and python3-venv).';
/** Fails where the version is too old, or where Debian's Python comes without venv and pip. */
const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

interface Ended {
  /** null: killed; undefined: could not be started. */
  readonly code: number | null | undefined;
  readonly output: string;
}

/** Runs a program to its end. `signal` kills it. */
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

/** A suite that is given the Python that has Schemathesis. To be awaited at the top of a test file. */
export async function describeWithSchemathesis(
  title: string,
  suite: (python: () => Promise<string>) => void,
): Promise<void> {
  const { code } = await runProgram('python3', ['-c', PROBE]);
  const isThere = code === 0;
  if (!isThere) {
    const missing = `Schemathesis needs Python 3.11 with venv, but \`python3\` is not. ${ADVICE}`;
    if (process.env.HOOKRAIL_REQUIRE_SCHEMATHESIS === '1') throw new Error(missing);
    console.warn(`skipped: ${missing}`);
  }
  describe.skipIf(!isThere)(title, () => suite(install));
}

/** Answers the Python of the environment. Rejects with the last lines of what could not be done. */
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

/** Python finds its environment by where its program is; the other programs of the folder know where they were made. */
function pythonOf(folder: string): string {
  return join(folder, 'bin', 'python');
}

async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runProgram(command, args);
  if (code === 0) return;
  const reason = output.trim().split('\n').slice(-5).join('\n');
  throw new Error(`\`${command} ${args.slice(0, 4).join(' ')} …\` failed. ${ADVICE}\n${reason}`);
}
