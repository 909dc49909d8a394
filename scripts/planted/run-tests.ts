import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Longest duration of a test run before it is killed, milliseconds. */
const RUN_MS_MAX = 300_000;

export interface TestsToRun {
  readonly test: string;
  /** Part of the title. */
  readonly title?: string;
}

/** `broken`: the tests are inconclusive, because the code or the run fails for another reason. */
export interface TestsEnd {
  readonly kind: 'passed' | 'failed' | 'broken';
  /** The first test that failed, with its message. */
  readonly detail: string;
}

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs tests in a folder with the given environment. The tests start a Kafka unless the environment names one. */
export async function runTests(
  folder: string,
  { test, title }: TestsToRun,
  environment: NodeJS.ProcessEnv,
): Promise<TestsEnd> {
  const report = join(folder, 'planted-report.json');
  rmSync(report, { force: true });
  const output = await runVitest(folder, environment, [
    ...['run', test, '--bail=1', '--reporter=json', `--outputFile=${report}`],
    ...(title === undefined ? [] : ['-t', title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')]),
  ]);
  if (output === 'late') return { kind: 'failed', detail: `did not finish within ${RUN_MS_MAX / 1000} s` };
  if (!existsSync(report)) return { kind: 'broken', detail: lastLine(output) };
  return endOf(JSON.parse(readFileSync(report, 'utf8')));
}

/** Errors of code that cannot run at all: any edit can cause them, so they do not count as a catch. */
const BROKEN_CODE = /^(SyntaxError|ReferenceError|TypeError)\b/;

/** Reads Vitest's JSON report, which has Jest's format. */
export function endOf({ success, testResults }: Report): TestsEnd {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === 'failed');
  const found = failed.find(({ failureMessages: [message] }) => message && !BROKEN_CODE.test(message));
  if (found) return { kind: 'failed', detail: `${found.title}: ${firstLine(found.failureMessages[0])}` };
  const broken = failed[0]?.failureMessages[0] ?? testResults.find(({ message }) => message !== '')?.message;
  if (broken !== undefined) return { kind: 'broken', detail: firstLine(broken) };
  if (!results.some(({ status }) => status === 'passed'))
    return { kind: 'broken', detail: 'no test has this title' };
  return success
    ? { kind: 'passed', detail: '' }
    : { kind: 'broken', detail: 'the run failed outside its tests' };
}

function firstLine(text = ''): string {
  return text.split('\n', 1)[0] ?? '';
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** Resolves with Vitest's standard error output, or `late` if the run was killed. */
function runVitest(folder: string, environment: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Its own process group, so that killing it also kills its workers.
      detached: true,
    });
    const kill = () => {
      if (vitest.pid === undefined || vitest.exitCode !== null) return;
      process.kill(-vitest.pid, 'SIGKILL');
    };
    process.once('exit', kill);
    let output = '';
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, RUN_MS_MAX);
    vitest.stderr.on('data', (bytes) => {
      output = `${output}${bytes}`.slice(-10_000);
    });
    vitest.once('error', reject);
    vitest.once('exit', () => {
      clearTimeout(timer);
      process.removeListener('exit', kill);
      resolve(isLate ? 'late' : output);
    });
  });
}
