import { visible, visibleLines } from '../../services/domain/text/visible-text.ts';
import type { Verdict } from '../../services/domain/verification/verification.ts';
import type { Output } from '../output.ts';
import { summarise } from './body-summary.ts';
import type { Arrival } from './receiver.ts';

/** Returns everything but the secret: the output ends up in terminals' histories and CI logs. */
export function arrivalJson(arrival: Arrival): object {
  return {
    number: arrival.number,
    at: new Date(arrival.at).toISOString(),
    method: arrival.method,
    path: arrival.path,
    headers: withoutSecret(arrival.headers),
    body: arrival.body.toString('utf8'),
    verdict: arrival.verdict,
    answered: arrival.answered,
  };
}

/** Returns headers with the value of Authorization replaced. */
export function withoutSecret(headers: Readonly<Record<string, string>>): Record<string, string> {
  return { ...headers, ...(headers.authorization === undefined ? {} : { authorization: '[redacted]' }) };
}

/** Formats an arrival: one line, and a line for each check that failed. */
export function arrivalLine(arrival: Arrival, output: Output): string {
  const { headers, verdict } = arrival;
  const time = new Date(arrival.at).toISOString().slice(11, 23);
  const attempt = headers['webhook-attempt']
    ? `attempt ${visible(headers['webhook-attempt'])}`
    : arrival.method;
  const mark = verdict === null ? '?' : verdict.authentic ? '✓' : '✗';
  const color = verdict === null ? 'yellow' : verdict.authentic ? 'green' : 'red';
  const failed =
    verdict?.checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.detail}`) ?? [];
  const line = [
    time,
    output.paint(color, mark),
    summarise(arrival.body).title,
    attempt,
    `→ ${arrival.answered === 'refused' ? '401, refused' : arrival.answered}`,
  ].join('  ');
  const details = failed.map((detail) => `    ${output.paint('red', visible(detail))}`);
  return [line, ...details].join('\n');
}

/** Formats the whole of an arrival below its line: the id, the verdict and the body. */
export function arrivalDetails({ headers, verdict, body }: Arrival, output: Output): string {
  const rows = [
    ['    id', visible(headers['webhook-id'] ?? 'none')],
    ['    verdict', verdict === null ? 'not verified: no secret is known' : verdictText(verdict, output)],
  ];
  return `${output.table(rows)}\n${indented(prettyBody(body))}`;
}

/** Returns the verdict in a few words. */
export function verdictText({ authentic, checks }: Verdict, output: Output): string {
  if (authentic) return output.paint('green', 'authentic: secret, signature and time are right');
  const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return output.paint('red', `not authentic: ${failed.join(', ')}`);
}

/** Returns JSON with line breaks, and any other text as it is; control characters are escaped. */
export function prettyBody(body: Buffer): string {
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
  } catch {
    return visibleLines(text);
  }
  return visibleLines(withLineBreaks(text));
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Breaks the lines of valid JSON. Its values stay as they are written: a number keeps every digit. */
function withLineBreaks(json: string): string {
  const lines = [''];
  let depth = 0;
  let before = '';
  const put = (text: string) => {
    lines[lines.length - 1] += text;
  };
  const newLine = () => lines.push('  '.repeat(depth));
  for (const [token] of json.matchAll(TOKENS)) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth -= 1;
    if (before === '{' || before === '[' ? !isEnd : isEnd) newLine();
    put(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    if (token === ',') newLine();
    before = token;
  }
  return lines.join('\n');
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}
