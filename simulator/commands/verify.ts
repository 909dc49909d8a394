import { readFileSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { visible } from '../../services/domain/text/visible-text.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { TOLERANCE_SECONDS_DEFAULT, verifyRequest } from '../receiver/verification.ts';
import { type CommandOptions, inSession, type Session, type Surroundings, unreadable } from '../session.ts';

interface VerifyOptions extends CommandOptions {
  readonly secret: string;
  readonly body: string;
  readonly headers: string;
  readonly tolerance: number;
  readonly at?: string;
}

/** Checks a captured webhook without any network: the answer to "why does my receiver refuse it". */
export function verifyCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, VerifyOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      secret: { type: 'string', demandOption: true, describe: 'The endpoint’s signing secret (whsec_…)' },
      body: { type: 'string', demandOption: true, describe: 'File with the body’s exact bytes; - for stdin' },
      headers: {
        type: 'string',
        demandOption: true,
        describe: 'File with the headers: a JSON object, or lines of "Name: value"',
      },
      tolerance: {
        type: 'number',
        default: TOLERANCE_SECONDS_DEFAULT,
        describe: 'Allowed age of the timestamp in seconds',
      },
      at: {
        type: 'string',
        describe: 'Time of receipt: unix seconds, RFC 3339, or "sent" (default: now)',
      },
    },
    handler: (options) => inSession(options, surroundings, async (session) => verify(session, options)),
  };
}

function verify({ output }: Session, options: VerifyOptions): void {
  const headers = parseHeaders(read(options.headers).toString('utf8'), options.headers);
  const body = read(options.body === '-' ? 0 : options.body);
  if (!(options.tolerance >= 0)) throw usage('--tolerance must be a number of seconds, 0 or more');
  const at = secondsOf(options.at, headers);
  const verdict = verifyRequest({ headers, body }, options.secret, at, options.tolerance);
  output.result(verdict, () =>
    output.prose(
      verdict.checks
        .map(
          ({ name, ok, detail }) =>
            `${output.paint(ok ? 'green' : 'red', ok ? '✓' : '✗')} ${name}: ${visible(detail)}`,
        )
        .join('\n'),
    ),
  );
  if (!verdict.authentic)
    throw new CommandFailure(EXIT.expectation, 'not authentic: a receiver must discard this request');
}

function read(path: string | 0): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(String(path), error);
  }
}

/** `sim receiver --save` writes JSON; `curl -v` and access logs have lines. */
function parseHeaders(text: string, source: string): Record<string, string> {
  const pairs = text.trimStart().startsWith('{') ? jsonPairs(text, source) : linePairs(text);
  if (pairs.length === 0)
    throw usage(`${source} has no headers: expected a JSON object, or lines of "Name: value"`);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

function jsonPairs(text: string, source: string): [string, string][] {
  try {
    return Object.entries(JSON.parse(text)).map(([name, value]) => [name, String(value)]);
  } catch {
    throw usage(`${source} starts like JSON but is not valid JSON`);
  }
}

function linePairs(text: string): [string, string][] {
  return text.split(/\r?\n/).flatMap((line) => {
    // curl -v puts "> " or "< " in front.
    const [name = '', ...rest] = line.replace(/^[<>] /, '').split(':');
    const isHeader = rest.length > 0 && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
    return isHeader ? [[name, rest.join(':').trim()] as [string, string]] : [];
  });
}

function secondsOf(at: string | undefined, headers: Record<string, string>): number {
  if (at === undefined) return Date.now() / 1000;
  if (at === 'sent') return Number(headers['webhook-timestamp'] ?? Number.NaN);
  const seconds = /^\d{1,12}$/.test(at) ? Number(at) : Date.parse(at) / 1000;
  if (Number.isNaN(seconds)) throw usage(`--at "${at}" is neither unix seconds, nor RFC 3339, nor "sent"`);
  return seconds;
}
