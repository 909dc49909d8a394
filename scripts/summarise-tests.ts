/**
 * `summarise-tests.ts REPORT [FAILED_STEPS]` prints one plain line, `N passed, N failed[, N skipped]`, from the JSON
 * report of the test runner, for machines that read the end of a log. A failed step that is no test counts as one
 * failure. Exits 1 when something failed, when no test ran, or when there is no report.
 */
import { readFileSync } from 'node:fs';

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
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

function readReport(path: string | undefined): Report | undefined {
  if (path === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

if (import.meta.filename === process.argv[1]) {
  const failedSteps = Number(process.argv[3] ?? 0);
  const report = readReport(process.argv[2]);
  const summary = report
    ? summarise(report, failedSteps)
    : { line: `0 passed, ${1 + failedSteps} failed`, ok: false };
  if (!report)
    console.error(
      `There is no test report in "${process.argv[2]}": the test runner exited before it wrote one.`,
    );
  console.log(summary.line);
  process.exitCode = summary.ok ? 0 : 1;
}
