import type { CommandModule } from 'yargs';
import { API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { usage } from '../../exit.ts';
import { writeEnvFile } from '../../listen/env-file.ts';
import { forgetListeners } from '../../listen/forget.ts';
import { parseForwardTarget } from '../../listen/forward-target.ts';
import { listen, usualTest } from '../../listen/listen.ts';
import { secretFor } from '../../listen/print-secret.ts';
import { parseEventName, parseEventTypes } from '../../scenario/event-name.ts';
import { type CommandOptions, inSession, type Surroundings } from '../../session.ts';
import { Footer } from '../../terminal/footer.ts';
import type { Keyboard } from '../../terminal/keyboard.ts';

interface ListenOptions extends CommandOptions {
  readonly forwardTo?: string;
  readonly path?: string;
  readonly port?: number;
  readonly events?: string[];
  readonly apiVersion?: ApiVersion;
  readonly skipVerify: boolean;
  readonly printSecret: boolean;
  readonly writeEnv?: string;
  readonly catchUp: boolean;
  readonly forget: boolean;
  readonly test?: string;
}

/** Sends webhooks on to an app on the developer's machine: no certificate, no endpoint, no secret to take care of. */
export function listenCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, ListenOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      'forward-to': {
        type: 'string',
        describe: 'Your app: http://localhost:3000/hook, localhost:3000/hook, 3000',
      },
      path: { type: 'string', describe: 'Path of your handler, if --forward-to has none' },
      events: {
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'Event types to receive: KYC,fiatToCrypto (default: all)',
      },
      'api-version': {
        choices: API_VERSIONS,
        requiresArg: true,
        describe: 'Version the webhooks are written in (default: that of the API key)',
      },
      'print-secret': { type: 'boolean', default: false, describe: 'Print the signing secret only, and end' },
      'write-env': {
        type: 'string',
        requiresArg: true,
        describe: 'File to write WEBHOOK_SECRET=… to, such as .env; its other lines stay',
      },
      'catch-up': {
        type: 'boolean',
        default: false,
        describe: 'Bring back what was not delivered while it was not running',
      },
      forget: {
        type: 'boolean',
        default: false,
        describe: 'Delete the endpoints of listeners that do not run (with --forward-to: that one), and end',
      },
      test: { type: 'string', describe: 'Send a test webhook at the start: type/subType, or nothing' },
      'skip-verify': {
        type: 'boolean',
        default: false,
        describe: 'Forward requests that are not authentic too, to try your own check',
      },
      port: {
        type: 'number',
        describe: 'Port for hookrail to send to (default: any free one, then the same)',
      },
    },
    handler: (options) => run(options, surroundings),
  };
}

async function run(options: ListenOptions, surroundings: Surroundings): Promise<void> {
  const terminal = options.printSecret ? undefined : terminalOf(options, surroundings);
  const { stdout, stderr } = terminal?.footer ?? surroundings;
  await inSession(options, { ...surroundings, stdout, stderr }, async (session) => {
    if (options.forget) {
      const { forwardTo, path } = options;
      return forgetListeners(
        session,
        forwardTo === undefined ? undefined : parseForwardTarget(forwardTo, path),
      );
    }
    const wanted = wantedOf(options);
    if (options.printSecret) {
      const { uuid, secret } = await secretFor(session, wanted);
      if (options.writeEnv !== undefined) writeEnvFile(options.writeEnv, secret);
      session.output.result({ endpoint_uuid: uuid, signing_secret: secret }, secret);
      return;
    }
    await listen(session, {
      ...wanted,
      options,
      terminal,
      envFile: options.writeEnv,
      catchUp: options.catchUp,
    });
  });
}

/** Checks the options. Throws a usage failure that says what is wrong. */
function wantedOf({ forwardTo, path, events, apiVersion, port, skipVerify, test }: ListenOptions) {
  if (forwardTo === undefined) {
    throw usage(
      'listen needs the address of your app',
      'hookrail sim listen --forward-to http://localhost:3000/hook',
    );
  }
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw usage('--port must be a whole number from 0 to 65535');
  }
  const types = events === undefined ? null : [...new Set(parseEventTypes(events))];
  if (types?.length === 0) throw usage('--events names no event type', 'hookrail sim catalog');
  return {
    target: parseForwardTarget(forwardTo, path),
    events: types,
    apiVersion,
    port: port === 0 ? undefined : port,
    skipVerify,
    test: test === undefined ? undefined : test === '' ? usualTest(types) : parseEventName(test),
  };
}

/** Returns the foot of the terminal and its keys when a person sits at it. */
function terminalOf(
  { output = 'pretty', quiet }: CommandOptions,
  { stdout, stderr, keyboard }: Surroundings,
): { readonly footer: Footer; readonly keyboard: Keyboard } | undefined {
  if (output !== 'pretty' || quiet || stdout.isTTY !== true || stderr.isTTY !== true) return undefined;
  const keys = keyboard?.();
  return keys && { footer: new Footer(stdout, stderr), keyboard: keys };
}
