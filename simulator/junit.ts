/** One check of a report: it passed unless it failed or was skipped. */
export interface JUnitCase {
  readonly name: string;
  /** The group in which readers of the report show it. */
  readonly className: string;
  readonly durationMs: number;
  /** Why it failed, the first line as the message. */
  readonly failure?: string | undefined;
  /** Why it was not checked. */
  readonly skipped?: string | undefined;
}

export interface JUnitSuite {
  readonly name: string;
  /** When it began, milliseconds since the epoch. */
  readonly startedAt: number;
  readonly cases: readonly JUnitCase[];
}

/** Formats suites as JUnit XML, the form of test reports that CI servers read. */
export function junitXml(suites: readonly JUnitSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'hookrail', ...totals(all) })}>`,
    ...suites.map(suiteXml),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteXml({ name, startedAt, cases }: JUnitSuite): string {
  const timestamp = new Date(startedAt).toISOString();
  const head = attributes({ name, ...totals(cases), timestamp });
  return [`  <testsuite${head}>`, ...cases.map(caseXml), '  </testsuite>'].join('\n');
}

function caseXml({ name, className, durationMs, failure, skipped }: JUnitCase): string {
  const head = `    <testcase${attributes({ name, classname: className, time: seconds(durationMs) })}`;
  const inside =
    failure !== undefined
      ? `<failure${attributes({ message: failure.split('\n', 1)[0] ?? '', type: 'expectation' })}>${escaped(failure)}</failure>`
      : skipped !== undefined
        ? `<skipped${attributes({ message: skipped })}/>`
        : undefined;
  return inside === undefined ? `${head}/>` : `${head}>${inside}</testcase>`;
}

function totals(cases: readonly JUnitCase[]): Record<string, string> {
  return {
    tests: String(cases.length),
    failures: String(cases.filter(({ failure }) => failure !== undefined).length),
    errors: '0',
    skipped: String(
      cases.filter(({ failure, skipped }) => failure === undefined && skipped !== undefined).length,
    ),
    time: seconds(cases.reduce((sum, { durationMs }) => sum + durationMs, 0)),
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML does not allow.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** Escapes text for an element or an attribute. Characters that XML 1.0 cannot have are replaced. */
function escaped(text: string): string {
  return text
    .replaceAll(NOT_XML, '\ufffd')
    .replaceAll(/[&<>"\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}
