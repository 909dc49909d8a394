import { readFileSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { visible } from '../../services/domain/text/visible-text.ts';
import { readCaptured } from '../../services/domain/verification/captured-text.ts';
import {
  hasPlatformSignature,
  type PlatformKey,
  platformKeysIn,
} from '../../services/domain/verification/platform-signature.ts';
import { TOLERANCE_SECONDS_DEFAULT } from '../../services/domain/verification/verification.ts';
import { messageOf } from '../../services/messages/error-message.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { verifyRequest } from '../receiver/verification.ts';
import { type CommandOptions, inSession, type Session, type Surroundings, unreadable } from '../session.ts';

interface VerifyOptions extends CommandOptions {
  readonly secret: string;
  readonly body: string;
  readonly headers: string;
  readonly tolerance: number;
  readonly at?: string;
  readonly keys?: string;
}

/**
 * Checks a captured webhook: the answer to "why does my receiver refuse it". It uses no network, unless the platform's keys
 * are to be got from one.
 */
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
        describe: 'File with the headers: JSON, lines of "Name: value", or the output of curl -v',
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
      keys: {
        type: 'string',
        describe: 'Check v1a too: the public keys, a file or …/.well-known/webhook-keys',
      },
    },
    handler: (options) => inSession(options, surroundings, async (session) => verify(session, options)),
  };
}

async function verify({ output, signal }: Session, options: VerifyOptions): Promise<void> {
  const headers = headersIn(read(options.headers).toString('utf8'), options.headers);
  const body = read(options.body === '-' ? 0 : options.body);
  if (!(options.tolerance >= 0)) throw usage('--tolerance must be a number of seconds, 0 or more');
  const at = secondsOf(options.at, headers);
  const keys = options.keys === undefined ? undefined : await keysFrom(options.keys, signal);
  const request = { headers, body };
  const verdict = verifyRequest(request, options.secret, at, options.tolerance, keys);
  if (keys === undefined && hasPlatformSignature(request))
    output.remark(
      'it has a signature v1a too, which is checked with --keys <file, or …/.well-known/webhook-keys>',
    );
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

/** The longest wait for the keys. */
const KEYS_MS_MAX = 10_000;

/** Reads the platform's public keys, from a file or from where the platform serves them. */
async function keysFrom(place: string, signal: AbortSignal): Promise<readonly PlatformKey[]> {
  const text = /^https?:/.test(place) ? await fetched(place, signal) : read(place).toString('utf8');
  try {
    return platformKeysIn(text);
  } catch (error) {
    throw usage(
      `--keys ${place}: ${messageOf(error)}`,
      'the platform serves them at /.well-known/webhook-keys',
    );
  }
}

async function fetched(url: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(KEYS_MS_MAX)]) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    return await answer.text();
  } catch (error) {
    throw new CommandFailure(EXIT.unreachable, `the keys cannot be got from ${url}: ${messageOf(error)}`);
  }
}

function read(path: string | 0): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(String(path), error);
  }
}

function headersIn(text: string, source: string): Readonly<Record<string, string>> {
  const { headers } = readCaptured(text);
  if (Object.keys(headers).length > 0) return headers;
  throw usage(`${source} has no headers: expected a JSON object, lines of "Name: value", or a curl command`);
}

function secondsOf(at: string | undefined, headers: Readonly<Record<string, string>>): number {
  if (at === undefined) return Date.now() / 1000;
  if (at === 'sent') return Number(headers['webhook-timestamp'] ?? Number.NaN);
  const seconds = /^\d{1,12}$/.test(at) ? Number(at) : Date.parse(at) / 1000;
  if (Number.isNaN(seconds)) throw usage(`--at "${at}" is neither unix seconds, nor RFC 3339, nor "sent"`);
  return seconds;
}
