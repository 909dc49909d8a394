import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { visible } from '../../services/domain/text/visible-text.ts';
import { parseDuration } from '../duration.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import type { Output } from '../output.ts';
import { BEHAVIOURS, type Behaviour } from '../receiver/behaviours.ts';
import { issueCertificate, openAuthority } from '../receiver/certificate-authority.ts';
import { type Arrival, type Receiver, type ReceiverOptions, startReceiver } from '../receiver/receiver.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';

interface ReceiverCommandOptions extends CommandOptions {
  readonly port: number;
  readonly host: string;
  readonly secret?: string;
  readonly behaviour: Behaviour;
  readonly delay: string;
  readonly failRate: number;
  readonly failFirst: number;
  readonly seed: string;
  readonly save?: string;
  readonly ndjson: boolean;
}

/** Runs an HTTPS receiver on the developer's machine that verifies requests and responds as configured. */
export function receiverCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, ReceiverCommandOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      port: { type: 'number', default: 0, describe: 'Port; 0 = any free one' },
      host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on' },
      secret: { type: 'string', describe: 'Signing secret to verify with (whsec_…)' },
      behaviour: { choices: BEHAVIOURS, default: 'ok' as Behaviour, describe: 'How it responds' },
      delay: { type: 'string', default: '0s', describe: 'Delay before each response: 500ms, 2s' },
      'fail-rate': { type: 'number', default: 0, describe: 'Share of attempts to answer with 500, 0 to 1' },
      'fail-first': {
        type: 'number',
        default: 0,
        describe: 'Number of attempts per delivery to answer with 500 first',
      },
      seed: { type: 'string', default: '', describe: 'Seed that chooses the attempts for --fail-rate' },
      save: {
        type: 'string',
        describe: 'Directory to save each request in, as .headers.json and .body, for sim verify',
      },
      ndjson: { type: 'boolean', default: false, describe: 'The same as --output ndjson' },
    },
    handler: (options) => {
      const output = options.ndjson ? ('ndjson' as const) : options.output;
      return inSession({ ...options, output }, surroundings, (session) => receive(session, options));
    },
  };
}

async function receive(session: Session, options: ReceiverCommandOptions): Promise<void> {
  const { output, signal, settings } = session;
  const delayMs = parseDuration(options.delay);
  if (delayMs === undefined) throw usage(`--delay "${options.delay}" is not a duration: 500ms, 2s, 1m`);
  if (!(options.failRate >= 0 && options.failRate <= 1)) throw usage('--fail-rate must be from 0 to 1');
  if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65_535) {
    throw usage('--port must be a whole number from 0 to 65535');
  }
  if (options.save !== undefined) mkdirSync(options.save, { recursive: true });
  const authority = await openAuthority(settings.dataDir);
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', options.host])].filter(
    (host) => host !== '0.0.0.0',
  );
  const certificate = await issueCertificate(authority, { hosts });
  const receiver = await listening({
    port: options.port,
    host: options.host,
    cert: certificate.certPem,
    key: certificate.keyPem,
    behaviour: options.behaviour,
    delayMs,
    failRate: options.failRate,
    failFirst: options.failFirst,
    seed: options.seed,
    keepMax: 1,
    ...(options.secret === undefined ? {} : { secret: options.secret }),
    onArrival: (arrival) => {
      if (options.save !== undefined) save(options.save, arrival);
      output.item(arrivalJson(arrival), () => arrivalLine(arrival, output));
    },
  });
  const hint = `register it: hookrail sim endpoints create --url ${receiver.url} --description "my receiver"`;
  output.item({ listening: receiver.url }, `listening on ${output.paint('bold', receiver.url)}`);
  if (options.secret === undefined) output.remark(`no --secret: requests are shown, not verified\n${hint}`);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await receiver.close();
}

async function listening(options: ReceiverOptions): Promise<Receiver> {
  try {
    return await startReceiver(options);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const next = code === 'EADDRINUSE' ? ['another program uses the port; --port 0 chooses a free one'] : [];
    const where = `${options.host ?? ''}:${options.port}`;
    throw new CommandFailure(EXIT.usage, `cannot listen on ${where} (${code})`, next);
  }
}

/** Returns everything but the secret: the output ends up in terminals' histories and CI logs. */
export function arrivalJson(arrival: Arrival): object {
  const { authorization, ...headers } = arrival.headers;
  return {
    number: arrival.number,
    at: new Date(arrival.at).toISOString(),
    method: arrival.method,
    path: arrival.path,
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization: '[redacted]' }) },
    body: arrival.body.toString('utf8'),
    verdict: arrival.verdict,
    answered: arrival.answered,
  };
}

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
    titleOf(arrival.body),
    attempt,
    `→ ${arrival.answered}`,
  ].join('  ');
  const details = failed.map((detail) => `    ${output.paint('red', visible(detail))}`);
  return [line, ...details].join('\n');
}

/** Returns type/subType of the body, or a description of another body. */
function titleOf(body: Buffer): string {
  try {
    const { type, subType } = JSON.parse(body.toString('utf8')) as { type?: unknown; subType?: unknown };
    if (typeof type === 'string') return visible(`${type}/${subType}`);
  } catch {
    // Not JSON: shown as such.
  }
  return `${body.length} bytes that are not a webhook body`;
}

/** Saves an arrival. The file of the headers contains the secret: only the owner may read it. */
function save(dir: string, arrival: Arrival): void {
  const id = (arrival.headers['webhook-id'] ?? 'no-id').replace(/[^\w-]/g, '_').slice(0, 64);
  const name = join(dir, `${String(arrival.number).padStart(5, '0')}-${id}`);
  writeFileSync(`${name}.headers.json`, `${JSON.stringify(arrival.headers, null, 2)}\n`, { mode: 0o600 });
  writeFileSync(`${name}.body`, arrival.body, { mode: 0o600 });
}
