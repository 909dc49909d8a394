import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { BEHAVIOURS } from '../../../client/receiver-behaviours.ts';
import { parseDuration } from '../../duration.ts';
import { usage } from '../../exit.ts';
import { arrivalDetails, arrivalJson, arrivalLine } from '../../receiver/arrival-lines.ts';
import type { Behaviour } from '../../receiver/behaviours.ts';
import { openAuthority } from '../../receiver/certificate-authority.ts';
import { orCannotListen } from '../../receiver/https-server.ts';
import { type Arrival, type Receiver, startReceiver } from '../../receiver/receiver.ts';
import { receiverCertificate } from '../../receiver/receiver-certificate.ts';
import { type Registered, registerReceiver, startOnKeptPort } from '../../receiver/registered-receiver.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface ReceiverCommandOptions extends CommandOptions {
  readonly port: number;
  readonly host: string;
  readonly secret?: string;
  readonly register: boolean;
  readonly behaviour: Behaviour;
  readonly delay: string;
  readonly failRate: number;
  readonly failFirst: number;
  readonly seed: string;
  readonly save?: string;
  readonly print: boolean;
  readonly ndjson: boolean;
}

/** Runs an HTTPS receiver on the developer's machine that verifies requests and responds as configured. */
export function receiverCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, ReceiverCommandOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      register: {
        type: 'boolean',
        default: false,
        describe: 'Create its endpoint, with the same secret every time; disabled when it stops',
      },
      port: { type: 'number', default: 0, describe: 'Port; 0 = any free one' },
      host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on' },
      secret: { type: 'string', describe: 'Signing secret to verify with (whsec_…)' },
      // A string: 500 is a name here.
      behaviour: {
        type: 'string',
        choices: BEHAVIOURS,
        default: 'ok' as Behaviour,
        describe: 'How it responds',
      },
      delay: { type: 'string', default: '0s', describe: 'Delay before each response: 500ms, 2s' },
      'fail-rate': { type: 'number', default: 0, describe: 'Share of attempts to answer with 500, 0 to 1' },
      'fail-first': {
        type: 'number',
        default: 0,
        describe: 'Number of attempts per delivery to answer with 500 first',
      },
      seed: { type: 'string', default: '', describe: 'Seed that chooses the attempts for --fail-rate' },
      print: { type: 'boolean', default: false, describe: 'Print the id, the verdict and the body of each' },
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
  const { output, signal } = session;
  const delayMs = checked(options);
  if (options.save !== undefined) mkdirSync(options.save, { recursive: true });
  const onArrival = (arrival: Arrival) => {
    if (options.save !== undefined) save(options.save, arrival);
    output.item(arrivalJson(arrival), () => {
      const line = arrivalLine(arrival, output);
      return options.print ? `${line}\n${arrivalDetails(arrival, output)}` : line;
    });
  };
  const { receiver, kept } = await start(session, options, delayMs, onArrival);
  let registered: Registered | undefined;
  try {
    registered = kept && (await registerReceiver(session, receiver, kept));
    sayListening(session, receiver, options, registered);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    await registered?.disable();
    await receiver.close();
  }
}

/** Throws a usage failure for an option that makes no sense; returns the delay in milliseconds. */
function checked(options: ReceiverCommandOptions): number {
  const delayMs = parseDuration(options.delay);
  if (delayMs === undefined) throw usage(`--delay "${options.delay}" is not a duration: 500ms, 2s, 1m`);
  if (!(options.failRate >= 0 && options.failRate <= 1)) throw usage('--fail-rate must be from 0 to 1');
  if (!Number.isInteger(options.failFirst) || options.failFirst < 0) {
    throw usage('--fail-first must be a whole number, 0 or more');
  }
  if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65_535) {
    throw usage('--port must be a whole number from 0 to 65535');
  }
  if (options.register && options.secret !== undefined) {
    throw usage('--register knows the secret of its endpoint: leave --secret out');
  }
  return delayMs;
}

async function start(
  { settings }: Session,
  options: ReceiverCommandOptions,
  delayMs: number,
  onArrival: (arrival: Arrival) => void,
) {
  const { host, behaviour, failRate, failFirst, seed, secret, port } = options;
  const authority = await openAuthority(settings.dataDir);
  const { certPem: cert, keyPem: key } = await receiverCertificate(authority, host, behaviour);
  const given = { host, cert, key, behaviour, delayMs, failRate, failFirst, seed, onArrival };
  const startOn = (onPort: number) =>
    startReceiver({
      ...given,
      port: onPort,
      keepMax: 1,
      refuses: true,
      ...(secret === undefined ? {} : { secret }),
    });
  if (options.register) return startOnKeptPort(settings.dataDir, { host, port }, startOn);
  return { receiver: await orCannotListen(startOn(port), host, port), kept: undefined };
}

function sayListening(
  { output }: Session,
  receiver: Receiver,
  { secret }: ReceiverCommandOptions,
  registered: Registered | undefined,
): void {
  const listening = `listening on ${output.paint('bold', registered?.url ?? receiver.url)}`;
  if (registered !== undefined) {
    const { url, uuid, secret: known } = registered;
    const datum = { listening: url, endpoint_uuid: uuid, signing_secret: known };
    output.item(datum, () => `${listening}\nendpoint     ${uuid}\nsecret       ${known}`);
    output.remark('to send it something: hookrail sim trigger KYC/FULL_USER');
    return;
  }
  output.item({ listening: receiver.url }, listening);
  if (secret !== undefined) return;
  output.remark(
    `no --secret: requests are shown, not verified\nlet it make its endpoint: hookrail sim receiver --register
or make one: hookrail sim endpoints create --url ${receiver.url} --description "my receiver"`,
  );
}

/** Saves an arrival. The file of the headers contains the secret: only the owner may read it. */
function save(dir: string, arrival: Arrival): void {
  const id = (arrival.headers['webhook-id'] ?? 'no-id').replace(/[^\w-]/g, '_').slice(0, 64);
  const name = join(dir, `${String(arrival.number).padStart(5, '0')}-${id}`);
  writeFileSync(`${name}.headers.json`, `${JSON.stringify(arrival.headers, null, 2)}\n`, { mode: 0o600 });
  writeFileSync(`${name}.body`, arrival.body, { mode: 0o600 });
}
