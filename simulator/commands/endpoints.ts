import type { Argv, CommandModule } from 'yargs';
import {
  API_VERSIONS,
  type ApiVersion,
  ENDPOINT_STATUSES,
  type EndpointStatus,
} from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { type EndpointAnswer, type EndpointChange, MerchantApi } from '../client/merchant-api.ts';
import { paintStatus } from '../client/timeline.ts';
import { usage } from '../exit.ts';
import { columns, type Output } from '../output.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { sendTest } from './send-test.ts';

interface EndpointOptions extends CommandOptions {
  readonly endpoint: string;
}

interface CreateOptions extends CommandOptions {
  readonly url: string;
  readonly description: string;
  readonly events?: EventType[];
  readonly apiVersion?: ApiVersion;
}

interface UpdateOptions extends EndpointOptions {
  readonly url?: string;
  readonly description?: string;
  readonly events?: EventType[];
  readonly allEvents?: boolean;
}

interface TestOptions extends EndpointOptions {
  readonly event: string;
  readonly user?: string;
  readonly corporate?: string;
  readonly wait: number;
}

const EVENTS_OPTION = {
  type: 'string',
  array: true,
  choices: EVENT_TYPES,
  describe: 'Event types to receive',
} as const;

/** Endpoints through the REST API, one subcommand per operation. */
export function endpointsCommand(surroundings: Surroundings): CommandModule {
  /** A subcommand that takes an endpoint's uuid. */
  const onEndpoint = <Options extends EndpointOptions>(
    name: string,
    describe: string,
    run: (api: MerchantApi, options: Options, session: Session) => Promise<void>,
    more: (args: Argv) => Argv = (args) => args,
  ): CommandModule<object, Options> => ({
    command: `${name} <endpoint>`,
    describe,
    builder: (args: Argv) =>
      more(
        args.positional('endpoint', { type: 'string', demandOption: true, describe: 'uuid' }),
      ) as Argv<Options>,
    handler: (options) =>
      inSession(options, surroundings, (session) =>
        run(new MerchantApi(session.api()), options as unknown as Options, session),
      ),
  });
  const withStatus =
    (status: 'active' | 'disabled') => (api: MerchantApi, options: EndpointOptions, session: Session) =>
      change(api, options.endpoint, { status }, session);
  return {
    command: 'endpoints <command>',
    describe: 'Endpoints: create, list, get, update, rotate, delete, test, enable, disable',
    builder: (args: Argv) =>
      args
        .command(createCommand(surroundings))
        .command(listCommand(surroundings))
        .command(
          onEndpoint('get', 'One endpoint', async (api, { endpoint }, { output }) => {
            const found = await api.endpoint(endpoint);
            output.result(found, () => describeEndpoint(found, output));
          }),
        )
        .command(
          onEndpoint<UpdateOptions>('update', 'Change URL, description or filter', update, (args) =>
            args.options({
              url: { type: 'string' },
              description: { type: 'string' },
              events: EVENTS_OPTION,
              'all-events': { type: 'boolean', describe: 'Receive every event type' },
            }),
          ),
        )
        .command(onEndpoint('rotate', 'A new signing secret; the old one is invalid at once', rotate))
        .command(onEndpoint('enable', 'Set active; resets the failure counters', withStatus('active')))
        .command(onEndpoint('disable', 'Send nothing more for now', withStatus('disabled')))
        .command(
          onEndpoint('delete', 'Remove it', async (api, { endpoint }, { output }) => {
            await api.deleteEndpoint(endpoint);
            output.result({ deleted: endpoint }, `deleted ${endpoint}`);
          }),
        )
        .command(
          onEndpoint<TestOptions>('test', 'Send one test webhook', test, (args) =>
            args.options({
              event: { type: 'string', default: 'fiatToCrypto/SUCCESS', describe: 'type/subType' },
              user: { type: 'string', describe: 'Its user; default a made-up one' },
              corporate: { type: 'string', describe: 'Its corporate' },
              wait: { type: 'number', default: 15, describe: 'Seconds to wait for the result' },
            }),
          ),
        )
        .demandCommand(1),
    handler: () => {},
  };
}

function createCommand(surroundings: Surroundings): CommandModule<object, CreateOptions> {
  return {
    command: 'create [url]',
    describe: 'Register a URL; prints the signing secret, this once',
    builder: {
      url: { type: 'string', demandOption: true, describe: 'https URL' },
      description: { type: 'string', default: 'made with sim endpoints create' },
      events: { ...EVENTS_OPTION, describe: 'Event types to receive; without it, all' },
      'api-version': { choices: API_VERSIONS, describe: 'Version the webhooks are written in' },
    },
    handler: (options) =>
      inSession(options, surroundings, async (session) => {
        const made = await new MerchantApi(session.api()).createEndpoint({
          url: options.url,
          description: options.description,
          ...(options.events === undefined ? {} : { subscribed_events: options.events }),
          ...(options.apiVersion === undefined ? {} : { api_version: options.apiVersion }),
        });
        session.output.result(made, () => describeEndpoint(made, session.output));
        session.output.remark(`keep the secret; try it: npm run sim -- endpoints test ${made.uuid}`);
      }),
  };
}

function listCommand(
  surroundings: Surroundings,
): CommandModule<object, CommandOptions & { status?: EndpointStatus }> {
  return {
    command: 'list',
    describe: 'All endpoints, newest first',
    builder: { status: { choices: ENDPOINT_STATUSES, describe: 'Only with this status' } },
    handler: (options) =>
      inSession(options, surroundings, async (session) => {
        const { output } = session;
        const found = await new MerchantApi(session.api()).endpoints(options.status);
        const line = (endpoint: EndpointAnswer) =>
          `${endpoint.uuid}  ${paintStatus(endpoint.status, output)}  ${visible(endpoint.url)}  ${visible(endpoint.description)}`;
        output.list(found, line, 'no endpoints; make one: npm run sim -- endpoints create --url https://…');
      }),
  };
}

async function update(api: MerchantApi, options: UpdateOptions, session: Session): Promise<void> {
  if (options.events && options.allEvents) throw usage('--events and --all-events exclude each other');
  const subscribed = options.allEvents ? null : options.events;
  const { url, description } = options;
  const given: EndpointChange = {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(subscribed === undefined ? {} : { subscribed_events: subscribed }),
  };
  if (Object.keys(given).length === 0) {
    throw usage('nothing to change: give --url, --description, --events or --all-events');
  }
  await change(api, options.endpoint, given, session);
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
}

async function rotate(api: MerchantApi, { endpoint }: EndpointOptions, { output }: Session): Promise<void> {
  const rotated = await api.rotateSecret(endpoint);
  output.result(rotated, `signing secret ${rotated.signing_secret}`);
  output.remark('the old secret is invalid: give the new one to your receiver now');
}

async function test(api: MerchantApi, options: TestOptions, session: Session): Promise<void> {
  await sendTest(api, options.endpoint, options.event, options, session);
}

function describeEndpoint(endpoint: EndpointAnswer, output: Output): string {
  const rows = [
    ['endpoint', endpoint.uuid],
    ['url', visible(endpoint.url)],
    ['description', visible(endpoint.description)],
    [
      'status',
      paintStatus(endpoint.status, output) +
        (endpoint.disabled_reason ? ` (${endpoint.disabled_reason})` : ''),
    ],
    ['events', endpoint.subscribed_events?.join(', ') ?? 'all'],
    ['api version', endpoint.api_version],
    [
      'secret',
      endpoint.signing_secret ? output.paint('bold', endpoint.signing_secret) : endpoint.secret_hint,
    ],
  ];
  if (endpoint.failure_count > 0) rows.push(['failures', `${endpoint.failure_count} since the last success`]);
  return columns(rows);
}
