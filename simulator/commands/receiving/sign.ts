import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { curlOf } from '../../../client/curl.ts';
import { chosenSecretFault } from '../../../services/domain/secret.ts';
import { usage } from '../../exit.ts';
import { signedHeaders } from '../../listen/signed-headers.ts';
import type { OutputFormat } from '../../output.ts';
import {
  type CommandOptions,
  inSession,
  type Session,
  type Surroundings,
  unreadable,
} from '../../session.ts';

interface SignOptions extends Omit<CommandOptions, 'output'> {
  readonly output?: OutputFormat | 'curl';
  readonly secret: string;
  readonly body: string;
  readonly id?: string;
  readonly timestamp?: string;
  readonly to: string;
}

/** Makes the headers of a webhook for a body: to test a receiver without a server. */
export function signCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, SignOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      secret: { type: 'string', demandOption: true, describe: 'Signing secret (whsec_…)' },
      body: { type: 'string', demandOption: true, describe: 'The body: text, @file, or - for stdin' },
      id: { type: 'string', describe: 'webhook-id (default: a new uuid)' },
      timestamp: { type: 'string', describe: 'Time of sending: unix seconds or RFC 3339 (default: now)' },
      to: {
        type: 'string',
        default: 'http://localhost:3000/hook',
        describe: 'Address of your receiver, for --output curl',
      },
      output: {
        // Besides those of every command.
        choices: ['curl'],
        describe: 'Format of the output; curl: a command that sends it',
        group: 'Output:',
      },
    },
    handler: ({ output, ...options }) => {
      const format = output === 'curl' ? 'pretty' : output;
      return inSession({ ...options, output: format }, surroundings, async (session) =>
        sign(session, options, output === 'curl'),
      );
    },
  };
}

function sign({ output }: Session, options: Omit<SignOptions, 'output'>, isCurl: boolean): void {
  const { secret, to } = options;
  const fault = chosenSecretFault(secret);
  if (fault !== null) throw usage(`--secret ${fault}`);
  if (isCurl && !/^https?:\/\//.test(to)) throw usage(`--to "${to}" is not an http or https URL`);
  const body = bodyOf(options.body);
  const id = options.id ?? randomUUID();
  if (!/^[!-~]+$/.test(id)) throw usage('--id must be visible ASCII characters, without spaces');
  const headers = signedHeaders({ secret, id, timestampSeconds: secondsOf(options.timestamp), body });
  if (isCurl) {
    output.result({}, curlOf(to, headers, body.toString('utf8')));
    return;
  }
  output.result(headers, () =>
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
  );
}

function bodyOf(body: string): Buffer {
  if (body !== '-' && !body.startsWith('@')) return Buffer.from(body);
  const path = body === '-' ? 0 : body.slice(1);
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(path === 0 ? 'standard input' : path, error);
  }
}

function secondsOf(timestamp: string | undefined): number {
  if (timestamp === undefined) return Math.floor(Date.now() / 1000);
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Date.parse(timestamp) / 1000;
  if (Number.isNaN(seconds)) throw usage(`--timestamp "${timestamp}" is neither unix seconds nor RFC 3339`);
  return Math.floor(seconds);
}
