import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Argv, CommandModule } from 'yargs';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { EndpointNames, endpointJson } from '../client/endpoint-names.ts';
import { DELIVERY_STATUSES, MerchantApi } from '../client/merchant-api.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { keptSecret } from '../receiver/kept-endpoint.ts';
import { parseWait } from '../scenario/run-options.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { deliveryAdvice } from './delivery-advice.ts';
import { deliveryItem, deliveryLine } from './log/delivery-lines.ts';
import { ABOUT, type LogOptions, logQuery, tailMs } from './log/filters.ts';
import { findDelivery } from './log/find.ts';
import { type ReplayOptions, replay, replayOptions } from './log/replay.ts';
import { followRequested } from './log/requested.ts';
import { asCurl, checkSignature, describeDelivery, nextCommands } from './log/show-delivery.ts';
import { tail } from './log/tail.ts';
import { shortId } from './wait-end.ts';

interface FilterOptions extends CommandOptions, LogOptions {
  readonly status?: (typeof DELIVERY_STATUSES)[number];
  readonly type?: EventType;
}

interface ListOptions extends FilterOptions {
  readonly limit: number;
}

interface TailOptions extends FilterOptions {
  readonly for?: string;
}

interface GetOptions extends CommandOptions {
  readonly delivery: string;
  readonly endpoint?: string;
  readonly full: boolean;
  readonly curl: boolean;
  readonly secret?: string;
}

interface ResendOptions extends CommandOptions {
  readonly delivery: string;
  readonly endpoint?: string;
  readonly wait?: string | boolean;
}

const FILTER = {
  endpoint: { type: 'string', describe: 'Only to this endpoint: uuid, 8 digits, name or URL' },
  status: { choices: DELIVERY_STATUSES, describe: 'Only with this status' },
  type: { choices: EVENT_TYPES, describe: 'Only of this event type' },
} as const;

/** Lists deliveries, shows their attempts, follows them, and sends them again. */
export function deliveriesCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const command = <Options extends CommandOptions>(
    names: string | readonly string[],
    describe: string,
    builder: (args: Argv) => Argv,
    run: (session: Session, options: Options) => Promise<void>,
  ) =>
    ({
      command: names,
      describe,
      builder,
      handler: (options: Options) => inSession(options, surroundings, (session) => run(session, options)),
    }) as unknown as CommandModule;
  return {
    builder: (args: Argv) =>
      args
        .command(command(['list', 'ls'], 'List deliveries, newest first', listOptions, listDeliveries))
        .command(
          command(
            'get <delivery>',
            'Show one delivery: its attempts, what was sent and answered, what comes next',
            getOptions,
            getDelivery,
          ),
        )
        .command(command('tail', 'Show deliveries as they happen, until Ctrl-C', tailOptions, tailDeliveries))
        .command(command('resend <delivery>', 'Send one delivery again', resendOptions, resend))
        .command(
          command<ReplayOptions>(
            'replay <endpoint>',
            'Send what an endpoint missed in a period',
            (given) => replayOptions(given) as unknown as Argv,
            replay,
          ),
        )
        .demandCommand(1),
    handler: () => {},
  };
}

function listOptions(args: Argv): Argv {
  return args.options({
    ...FILTER,
    ...ABOUT,
    since: { type: 'string', describe: 'Created since then: 2h (ago), or RFC 3339' },
    until: { type: 'string', describe: 'Created before then: 2h (ago), or RFC 3339' },
    limit: { type: 'number', default: 20, describe: 'Number of deliveries' },
  });
}

function getOptions(args: Argv): Argv {
  return deliveryPosition(args).options({
    endpoint: { type: 'string', describe: 'Its endpoint (default: search all endpoints)' },
    full: { type: 'boolean', default: false, describe: 'Show every header, the whole body and response' },
    curl: { type: 'boolean', default: false, describe: 'Print the request as a curl command' },
    secret: { type: 'string', describe: 'Check the signature with this secret' },
  });
}

function tailOptions(args: Argv): Argv {
  return args.options({
    ...FILTER,
    ...ABOUT,
    since: { type: 'string', describe: 'Show first what was created since then: 2h (ago), or RFC 3339' },
    for: { type: 'string', describe: 'End after this long: 30s' },
  });
}

function resendOptions(args: Argv): Argv {
  return deliveryPosition(args).options({
    endpoint: { type: 'string', describe: 'Its endpoint (default: search all endpoints)' },
    wait: { type: 'string', describe: 'Follow the delivery for at most this long: 30s' },
  });
}

function deliveryPosition(args: Argv): Argv {
  const describe = 'webhook-delivery-id, or 8 digits of it';
  return args.positional('delivery', { type: 'string', demandOption: true, describe });
}

async function listDeliveries(session: Session, options: ListOptions): Promise<void> {
  const { output } = session;
  const { status, type, limit } = options;
  const { api, query } = await logQuery(session, 'deliveries list', options);
  const found = await api.deliveries({ status, type, ...query, limit });
  const names = new EndpointNames(api);
  for (const delivery of found) await names.learn(delivery.endpoint_uuid);
  const items = found.map((delivery) => deliveryItem(delivery, names));
  output.list(items, (item) => deliveryLine(item, names, output, api.clock.now()), 'no deliveries');
  if (found[0]) output.remark(`details: hookrail sim deliveries get ${shortId(found[0].delivery_uuid)}`);
}

async function getDelivery(session: Session, options: GetOptions): Promise<void> {
  const { output } = session;
  if (options.full && options.curl) throw usage('--full and --curl cannot be combined');
  const api = new MerchantApi(session.api());
  const delivery = await findDelivery(api, options.delivery, options.endpoint);
  const names = new EndpointNames(api);
  await names.learn(delivery.endpoint_uuid);
  const endpoint = names.of(delivery.endpoint_uuid);
  if (options.curl) {
    if (delivery.attempts.length === 0 || delivery.body === null)
      throw new CommandFailure(
        EXIT.api,
        'there is no request to show: nothing was sent, or it is no longer kept',
      );
    const ca = join(session.settings.dataDir, 'ca.crt');
    const text = asCurl(delivery, endpoint, existsSync(ca) ? ca : undefined);
    output.result({ curl: text }, text);
    output.remark('its signature is as old as the attempt: receivers refuse it after five minutes');
    return;
  }
  const kept = keptSecret(session.settings.dataDir, delivery.endpoint_uuid);
  // It may have been rotated since: one that does not fit proves nothing.
  const secret = options.secret ?? (checkSignature(delivery, kept)?.ok ? kept : undefined);
  const check = checkSignature(delivery, secret);
  const datum = {
    ...delivery,
    endpoint: endpointJson(endpoint),
    ...(check === undefined ? {} : { signature_ok: check.ok }),
  };
  output.result(datum, () => describeDelivery(delivery, endpoint, session, { full: options.full, secret }));
  const advice = await deliveryAdvice(api, delivery);
  if (advice) output.advise(advice);
  if (delivery.attempts.length > 0) output.remark(nextCommands(delivery, options.full));
}

async function tailDeliveries(session: Session, options: TailOptions): Promise<void> {
  const forMs = tailMs(options.for);
  const { type, status } = options;
  const { api, about, query } = await logQuery(session, 'deliveries tail', options);
  const { endpoint_uuid: endpoint, since } = query;
  await tail(session, api, { endpoint, type, status, since, forMs, about });
}

async function resend(session: Session, options: ResendOptions): Promise<void> {
  const { output } = session;
  const wait = parseWait(options.wait, output.isInteractive);
  const api = new MerchantApi(session.api());
  const { delivery_uuid, endpoint_uuid } = await findDelivery(api, options.delivery, options.endpoint);
  let made: string | undefined;
  await followRequested(session, api, {
    waitMs: wait.ms,
    isAsked: wait.isAsked,
    matches: ({ kind, data }) => kind !== 'skipped' && data.delivery_uuid === made,
    start: async () => {
      const resent = await api.resend(endpoint_uuid, delivery_uuid);
      made = resent.delivery_uuid;
      output.item({ kind: 'resent', ...resent }, `delivery ${shortId(made)} is queued`);
    },
    expected: () => (made === undefined ? undefined : 1),
  });
}
