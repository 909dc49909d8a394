import { writeFileSync } from 'node:fs';
import { formatDuration } from '../../client/duration.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type JUnitCase, junitXml } from '../junit.ts';
import type { Output } from '../output.ts';
import { unreadable } from '../session.ts';

/** The result of a case. `not_checked`: this sandbox cannot show it; `skipped`: it has no meaning here. */
export interface CaseResult {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'not_checked' | 'skipped';
  readonly durationMs: number;
  /** The findings, one line each. */
  readonly findings: readonly string[];
  /** The number of things checked, as text: "4 webhooks". */
  readonly did?: string;
}

const MARKS = {
  passed: ['green', '✓'],
  failed: ['red', '✗'],
  not_checked: ['yellow', '?'],
  skipped: ['dim', '-'],
} as const;

/** The commands that help with what was not checked, each once. */
export interface Summary {
  readonly next: readonly string[];
  /** How many scenarios the cases are of. */
  readonly scenarios: number;
}

/** Prints a case as soon as it is over. */
export function showResult(output: Output, result: CaseResult, width: number): void {
  const { name, status, durationMs, findings, did } = result;
  const datum = { kind: 'case', name, status, duration_ms: Math.round(durationMs), findings };
  output.item(datum, () => {
    const [color, mark] = MARKS[status];
    const head = `${output.paint(color, mark)} ${name.padEnd(width)}`;
    if (status === 'passed') {
      return output.row([head, did ?? '', output.paint('dim', formatDuration(durationMs))]);
    }
    const details = findings.length > 1 ? findings.map((finding) => `    ${finding}`) : [];
    return output.prose(
      [`${head}  ${findings.length > 1 ? '' : (findings[0] ?? '')}`, ...details].join('\n'),
    );
  });
}

/** Writes the results as JUnit XML. Throws a usage failure when the file cannot be written. */
export function writeJUnit(file: string, startedAt: number, results: readonly CaseResult[]): void {
  const cases = results.map(({ name, status, durationMs, findings }): JUnitCase => {
    const text = findings.join('\n');
    return {
      name,
      className: `scenarios.${name.split('.', 1)[0]}`,
      durationMs,
      ...(status === 'failed' ? { failure: text } : {}),
      ...(status === 'skipped' || status === 'not_checked' ? { skipped: text } : {}),
    };
  });
  try {
    writeFileSync(file, junitXml([{ name: 'hookrail sim scenarios check', startedAt, cases }]));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Prints the sum, and throws a failure unless everything was checked and passed. */
export function conclude(output: Output, results: readonly CaseResult[], { next, scenarios }: Summary): void {
  const count = (status: CaseResult['status']) => results.filter((result) => result.status === status).length;
  const [passed, failed, notChecked, skipped] = [
    count('passed'),
    count('failed'),
    count('not_checked'),
    count('skipped'),
  ];
  const parts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(notChecked > 0 ? [`${notChecked} not checked`] : []),
    ...(skipped > 0 ? [`${skipped} left out`] : []),
  ];
  const datum = { kind: 'summary', passed, failed, not_checked: notChecked, skipped };
  output.item(datum, () => {
    const cases = results.length === scenarios ? '' : `, ${results.length} plays`;
    return `\n${scenarios} ${scenarios === 1 ? 'scenario' : 'scenarios'}${cases}: ${parts.join(', ')}`;
  });
  if (failed > 0) throw new CommandFailure(EXIT.expectation, `${failed} of ${results.length} failed`, next);
  if (notChecked > 0) {
    throw new CommandFailure(EXIT.timeout, `${notChecked} of ${results.length} could not be checked`, next);
  }
}
