/**
 * `summarise-tests.ts FAILED_STEPS REPORT…` prints from the JSON reports of the test runner, for readers who see only the
 * end of a log: each failed test with the beginning of its message, then one plain line, `N passed, N failed[, N
 * skipped]`. A failed step that is no test counts as one failure, and so does a report that is missing. Exits 1 when
 * something failed, or when no test ran.
 */
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

/** Further failures are counted only. */
const TOLD_MAX = 5;
const MESSAGE_MAX = 1500;

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly status: string;
    readonly name?: string;
    /** Why the file failed outside its tests. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName?: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

export interface Summary {
  readonly line: string;
  readonly ok: boolean;
}

/** Counts the tests of a report. A file that fails outside its tests (at import, in a hook) counts as one failure. */
export function summarise(report: Report, failedSteps: number): Summary {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
    const statuses = file.assertionResults.map(({ status }) => status);
    for (const status of statuses)
      counts[status === 'passed' || status === 'failed' ? status : 'skipped'] += 1;
    if (file.status === 'failed' && !statuses.includes('failed')) counts.failed += 1;
  }
  // The runner may fail as a whole, by an error that no test caught: then nothing above counted it.
  if (!report.success && counts.failed === 0) counts.failed = 1;
  counts.failed += failedSteps;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  return {
    line: `${counts.passed} passed, ${counts.failed} failed${skipped}`,
    ok: counts.failed === 0 && counts.passed > 0,
  };
}

/** Returns for each of the first failures its file, its test's name and the beginning of its message. */
export function failuresOf(report: Report): string[] {
  const failures = report.testResults.flatMap(({ name = '', status, message, assertionResults }) => {
    const failed = assertionResults.filter((each) => each.status === 'failed');
    const tests = failed.map((each) => [name, each.fullName, each.failureMessages?.join('\n')] as const);
    return status === 'failed' && tests.length === 0
      ? [[name, '(outside its tests)', message] as const]
      : tests;
  });
  return failures.slice(0, TOLD_MAX).map(([file, test = '', message = '']) => {
    const text = stripVTControlCharacters(message);
    return `✗ ${file}: ${test}\n${text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX)} …` : text}`;
  });
}

/** Returns the reports as one, and how many are missing, with a line for each. */
export function readReports(paths: readonly string[]): { report: Report; missing: number } {
  const reports = paths.flatMap((path) => {
    try {
      return [JSON.parse(readFileSync(path, 'utf8')) as Report];
    } catch {
      console.error(`There is no test report in "${path}": the test runner exited before it wrote one.`);
      return [];
    }
  });
  const report = {
    success: reports.every(({ success }) => success),
    testResults: reports.flatMap(({ testResults }) => testResults),
  };
  return { report, missing: paths.length - reports.length };
}

if (import.meta.filename === process.argv[1]) {
  const [, , steps, ...paths] = process.argv;
  const { report, missing } = readReports(paths);
  const summary = summarise(report, Number(steps ?? 0) + missing);
  for (const failure of failuresOf(report)) console.log(`${failure}\n`);
  console.log(summary.line);
  process.exitCode = summary.ok ? 0 : 1;
}
