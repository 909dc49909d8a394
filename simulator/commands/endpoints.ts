import type { Argv, CommandModule } from 'yargs';
import { type ApiVersion, ENDPOINT_STATUSES, type EndpointStatus } from '../../services/domain/endpoint.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { type EndpointAnswer, type EndpointChange, MerchantApi } from '../client/merchant-api.ts';
import { paintStatus } from '../client/timeline.ts';
import { usage } from '../exit.ts';
import { parseWebhookTypes } from '../scenario/event-name.ts';
import {
  type CommandOptions,
  type EndpointOptions,
  inSession,
  type Session,
  type Surroundings,
} from '../session.ts';
import { check } from './endpoints/check-endpoint.ts';
import { type ControlOptions, controlsOf } from './endpoints/controls.ts';
import { createCommand, signatureOf, withUrlAdvice } from './endpoints/create-endpoint.ts';
import { TEST_OPTIONS, UPDATE_OPTIONS } from './endpoints/options.ts';
import {
  PREPARE_OPTIONS,
  type PrepareOptions,
  prepare,
  ROTATE_OPTIONS,
  type RotateOptions,
  rotate,
} from './endpoints/secrets.ts';
import { bringBack, describeEndpoint } from './log/endpoint-lines.ts';
import { findEndpoint, findEndpointToChange } from './log/find.ts';
import { type ReplayOptions, replay, replayOptions } from './log/replay.ts';
import { sendTest } from './send-test.ts';

interface UpdateOptions extends EndpointOptions, ControlOptions {
  readonly clearHeaders?: boolean;
  readonly url?: string;
  readonly description?: string;
  readonly events?: string[];
  readonly allEvents?: boolean;
  readonly apiVersion?: ApiVersion;
  readonly publicKeySignature?: boolean;
}

interface TestOptions extends EndpointOptions {
  readonly event?: string;
  readonly user?: string;
  readonly corporate?: string;
  readonly wait: number;
  readonly prepared: boolean;
}

/** Endpoints through the REST API, one subcommand per operation. */
export function endpointsCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const onEndpoint = onEndpointIn(surroundings);
  const withStatus =
    (status: 'active' | 'disabled') => (api: MerchantApi, options: EndpointOptions, session: Session) =>
      change(api, options.endpoint, { status }, session);
  return {
    builder: (args: Argv) =>
      args
        .command(createCommand(surroundings))
        .command(listCommand(surroundings))
        .command(onEndpoint('get', 'Show one endpoint', get))
        .command(
          onEndpoint<UpdateOptions>(
            'update',
            'Change URL, description, filter, API version, signature, headers or limit',
            update,
            (args) => args.options(UPDATE_OPTIONS),
          ),
        )
        .command(
          onEndpoint<PrepareOptions>(
            'prepare',
            'Make the secret that the next rotation puts in force',
            prepare,
            (args) => args.options(PREPARE_OPTIONS),
          ),
        )
        .command(
          onEndpoint<RotateOptions>(
            'rotate',
            'Rotate the signing secret; the old one is invalid at once',
            rotate,
            (args) => args.options(ROTATE_OPTIONS),
          ),
        )
        .command(
          onEndpoint('enable', 'Set the status to active; resets the failure counters', withStatus('active')),
        )
        .command(onEndpoint('disable', 'Stop deliveries until it is enabled again', withStatus('disabled')))
        .command(onEndpoint('delete', 'Delete the endpoint', remove, (args) => args, ['rm']))
        .command(replayCommand(surroundings))
        .command(onEndpoint('check', 'Check how webhooks reach the endpoint, without sending one', check))
        .command(
          onEndpoint<TestOptions>('test', 'Send one test webhook', test, (args) =>
            args.options(TEST_OPTIONS),
          ),
        )
        .demandCommand(1),
    handler: () => {},
  };
}

/** Returns what makes a subcommand that takes an endpoint's uuid. */
function onEndpointIn(surroundings: Surroundings) {
  return <Options extends EndpointOptions>(
    name: string,
    describe: string,
    run: (api: MerchantApi, options: Options, session: Session) => Promise<void>,
    more: (args: Argv) => Argv = (args) => args,
    aliases: readonly string[] = [],
  ): CommandModule<object, Options> => ({
    command: [name, ...aliases].map((each) => `${each} <endpoint>`),
    describe,
    builder: (args: Argv) =>
      more(
        args.positional('endpoint', {
          type: 'string',
          demandOption: true,
          describe: 'uuid, 8 digits of it, description or URL',
        }),
      ) as Argv<Options>,
    handler: (options) =>
      inSession(options, surroundings, async (session) => {
        const api = new MerchantApi(session.api());
        // What changes nothing takes a part of a name, too.
        const find = run === get ? findEndpoint : findEndpointToChange;
        const endpoint = await find(api, options.endpoint);
        await run(api, { ...(options as unknown as Options), endpoint }, session);
      }),
  });
}

/** The same as `deliveries replay`. */
function replayCommand(surroundings: Surroundings): CommandModule<object, ReplayOptions> {
  return {
    command: 'replay <endpoint>',
    describe: 'Send what the endpoint missed in a period',
    builder: replayOptions,
    handler: (options) => inSession(options, surroundings, (session) => replay(session, options)),
  };
}

async function get(api: MerchantApi, { endpoint }: EndpointOptions, { output }: Session): Promise<void> {
  const found = await api.endpoint(endpoint);
  output.result(found, () => describeEndpoint(found, output));
  const advice = bringBack(found);
  if (advice) output.advise(advice);
}

async function remove(api: MerchantApi, { endpoint }: EndpointOptions, { output }: Session): Promise<void> {
  await api.deleteEndpoint(endpoint);
  output.result({ deleted: endpoint }, `deleted ${endpoint}`);
}

function listCommand(
  surroundings: Surroundings,
): CommandModule<object, CommandOptions & { status?: EndpointStatus }> {
  return {
    command: ['list', 'ls'],
    describe: 'List endpoints, newest first',
    builder: { status: { choices: ENDPOINT_STATUSES, describe: 'Only with this status' } },
    handler: (options) =>
      inSession(options, surroundings, async (session) => {
        const { output } = session;
        const found = await new MerchantApi(session.api()).endpoints(options.status);
        const line = (endpoint: EndpointAnswer) =>
          output.row([
            endpoint.uuid,
            paintStatus(endpoint.status, output),
            visible(endpoint.url),
            visible(endpoint.description),
          ]);
        output.list(found, line, 'no endpoints; create one: hookrail sim endpoints create --url https://…');
      }),
  };
}

async function update(api: MerchantApi, options: UpdateOptions, session: Session): Promise<void> {
  if (options.events && options.allEvents) throw usage('--events and --all-events cannot be combined');
  const subscribed = options.allEvents ? null : options.events && parseWebhookTypes(options.events);
  const { url, description, apiVersion } = options;
  const given: EndpointChange = {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(subscribed === undefined ? {} : { subscribed_events: subscribed }),
    ...(apiVersion === undefined ? {} : { api_version: apiVersion }),
    ...signatureOf(options),
    ...controlsOf(options, session.surroundings.environment),
  };
  if (Object.keys(given).length === 0) {
    throw usage(
      'nothing to change: give --url, --description, --events, --all-events, --api-version, --public-key-signature, --header, --clear-headers or --requests-per-second',
    );
  }
  await withUrlAdvice(change(api, options.endpoint, given, session), url ?? '');
}

async function change(
  api: MerchantApi,
  uuid: string,
  body: EndpointChange,
  { output }: Session,
): Promise<void> {
  const changed = await api.updateEndpoint(uuid, body);
  output.result(changed, () => describeEndpoint(changed, output));
  if (changed.hint) output.remark(changed.hint);
  if (body.status === 'active') output.remark('to see what it missed: hookrail sim missed');
}

async function test(api: MerchantApi, options: TestOptions, session: Session): Promise<void> {
  await sendTest(api, options.endpoint, options.event, options, session);
}
