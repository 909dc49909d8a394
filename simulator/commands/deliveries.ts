import type { Argv, CommandModule } from 'yargs';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { ApiRefusal } from '../client/api-client.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryAnswer,
  type DeliveryDetailAnswer,
  MerchantApi,
} from '../client/merchant-api.ts';
import { paintStatus, timeline } from '../client/timeline.ts';
import { parseDuration } from '../duration.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import type { Output } from '../output.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { deliveryAdvice } from './delivery-advice.ts';

interface ListOptions extends CommandOptions {
  readonly endpoint?: string;
  readonly status?: (typeof DELIVERY_STATUSES)[number];
  readonly type?: EventType;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

interface GetOptions extends CommandOptions {
  readonly delivery: string;
  readonly endpoint?: string;
}

const LIMIT_MAX = 10_000;

/** Lists deliveries and shows their attempts. */
export function deliveriesCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const list: CommandModule<object, ListOptions> = {
    command: 'list',
    describe: 'List deliveries, newest first',
    builder: {
      endpoint: { type: 'string', describe: 'Only of this endpoint (default: all)' },
      status: { choices: DELIVERY_STATUSES, describe: 'Only with this status' },
      type: { choices: EVENT_TYPES, describe: 'Only of this event type' },
      since: { type: 'string', describe: 'Created since then: 2h (ago), or RFC 3339' },
      until: { type: 'string', describe: 'Created before then: 2h (ago), or RFC 3339' },
      limit: { type: 'number', default: 20, describe: 'Number of deliveries per endpoint' },
    },
    handler: (options) => inSession(options, surroundings, (session) => listDeliveries(session, options)),
  };
  const get: CommandModule<object, GetOptions> = {
    command: 'get <delivery>',
    describe: 'Show one delivery: its attempts as a timeline, and when the next is due',
    builder: (args: Argv) =>
      args
        .positional('delivery', { type: 'string', demandOption: true, describe: 'webhook-delivery-id' })
        .option('endpoint', {
          type: 'string',
          describe: 'Its endpoint (default: search all endpoints)',
        }) as Argv<GetOptions>,
    handler: (options) => inSession(options, surroundings, (session) => getDelivery(session, options)),
  };
  return {
    builder: (args: Argv) => args.command(list).command(get).demandCommand(1),
    handler: () => {},
  };
}

async function listDeliveries(session: Session, options: ListOptions): Promise<void> {
  const { endpoint, status, type, limit } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw usage(`--limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const now = Date.now();
  const since = parseTime('since', options.since, now);
  const until = parseTime('until', options.until, now);
  const api = new MerchantApi(session.api());
  const endpoints = endpoint === undefined ? (await api.endpoints()).map(({ uuid }) => uuid) : [endpoint];
  const found: DeliveryAnswer[] = [];
  for (const uuid of endpoints)
    found.push(...(await api.deliveries(uuid, { status, type, since, until, limit })));
  found.sort((a, b) => b.created_at.localeCompare(a.created_at));
  session.output.list(found, (delivery) => deliveryLine(delivery, session.output), 'no deliveries');
  if (found[0]) session.output.remark(`details: hookrail sim deliveries get ${found[0].delivery_uuid}`);
}

/** Parses a time of a filter: RFC 3339, or a duration before `now` (milliseconds since the epoch). */
function parseTime(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const ago = parseDuration(text);
  if (ago !== undefined) return new Date(now - ago).toISOString();
  if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw usage(
    `--${name} "${text}" is neither a duration, such as 2h, nor a time in RFC 3339`,
    `hookrail sim deliveries list --${name} 2h`,
  );
}

function deliveryLine(delivery: DeliveryAnswer, output: Output): string {
  const last = delivery.last_response_status ?? delivery.last_failure_code ?? '-';
  const parts = [
    delivery.created_at,
    delivery.delivery_uuid,
    `${delivery.type}/${delivery.subType}`,
    paintStatus(delivery.status, output),
    `${delivery.attempts_made}/${delivery.attempts_max}`,
    String(last),
  ];
  if (delivery.trigger !== 'live') parts.push(delivery.trigger);
  if (delivery.next_attempt_at) parts.push(`next ${delivery.next_attempt_at}`);
  return output.row(parts);
}

async function getDelivery(session: Session, options: GetOptions): Promise<void> {
  const api = new MerchantApi(session.api());
  const delivery = await findDelivery(api, options.delivery, options.endpoint);
  session.output.result(delivery, () => timeline(delivery, session.output, Date.now()));
  const advice = await deliveryAdvice(api, delivery);
  if (advice) session.output.advise(advice);
}

/** The API finds deliveries by their endpoint; a user usually has only the delivery's id. */
async function findDelivery(api: MerchantApi, id: string, endpoint?: string): Promise<DeliveryDetailAnswer> {
  if (endpoint !== undefined) return api.delivery(endpoint, id);
  for (const { uuid } of await api.endpoints()) {
    try {
      return await api.delivery(uuid, id);
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
    }
  }
  throw new CommandFailure(EXIT.api, `no endpoint of the merchant has a delivery ${id}`, [
    'list them with: hookrail sim deliveries list',
  ]);
}
