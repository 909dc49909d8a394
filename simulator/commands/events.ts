import type { Argv, CommandModule } from 'yargs';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { EndpointNames, endpointJson } from '../client/endpoint-names.ts';
import { type EventAnswer, type EventListed, MerchantApi, VERDICTS } from '../client/merchant-api.ts';
import { clockTime } from '../client/timeline.ts';
import { isIdleListener } from '../listen/listen-endpoint.ts';
import type { Output } from '../output.ts';
import { shortened, whySkipped } from '../scenario/live-lines.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { bodyLines } from './log/body-lines.ts';
import { compareCommand } from './log/compare.ts';
import { tailEvents } from './log/event-tail.ts';
import { ABOUT, type LogOptions, logQuery, tailMs } from './log/filters.ts';
import { findEvent } from './log/find.ts';
import { statusCommand } from './producing/status.ts';
import { shortId } from './wait-end.ts';

interface GetOptions extends CommandOptions {
  readonly event: string;
}

interface FilterOptions extends CommandOptions, LogOptions {
  readonly type?: EventType;
  readonly verdict?: (typeof VERDICTS)[number];
}

interface ListOptions extends FilterOptions {
  readonly limit: number;
}

interface TailOptions extends FilterOptions {
  readonly for?: string;
}

const FILTER = {
  endpoint: { type: 'string', describe: 'With --verdict: at this endpoint (uuid, 8 digits, name or URL)' },
  type: { choices: EVENT_TYPES, describe: 'Only of this event type' },
  verdict: {
    choices: VERDICTS,
    describe: 'Only events that an endpoint got, or did not get, for this reason',
  },
} as const;

/** Shows events and their routing: the answer to "why did I not get it". */
export function eventsCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const get: CommandModule<object, GetOptions> = {
    command: 'get <event>',
    describe: 'Show one event: its body, and for each endpoint whether it was delivered, or why not',
    builder: (args: Argv) =>
      args.positional('event', {
        type: 'string',
        demandOption: true,
        describe: 'webhook-id, or 8 digits of it',
      }),
    handler: (options) => inSession(options, surroundings, (session) => getEvent(session, options)),
  };
  const list: CommandModule<object, ListOptions> = {
    command: ['list', 'ls'],
    describe: 'List events and where they went, newest first',
    builder: {
      ...FILTER,
      ...ABOUT,
      since: { type: 'string', describe: 'Accepted since then: 2h (ago), or RFC 3339' },
      until: { type: 'string', describe: 'Accepted before then: 2h (ago), or RFC 3339' },
      limit: { type: 'number', default: 20, describe: 'Number of events' },
    },
    handler: (options) => inSession(options, surroundings, (session) => listEvents(session, options)),
  };
  const tail: CommandModule<object, TailOptions> = {
    command: 'tail',
    describe: 'Show events and where they go as they happen, until Ctrl-C',
    builder: { ...FILTER, ...ABOUT, for: { type: 'string', describe: 'End after this long: 30s' } },
    handler: (options) => inSession(options, surroundings, (session) => followEvents(session, options)),
  };
  return {
    builder: (args: Argv) =>
      args
        .command(list)
        .command(get)
        .command(tail)
        .command(compareCommand(surroundings))
        .command(statusCommand(surroundings))
        .demandCommand(1),
    handler: () => {},
  };
}

async function getEvent(session: Session, options: GetOptions): Promise<void> {
  const { output } = session;
  const api = new MerchantApi(session.api());
  const event = await findEvent(api, options.event);
  const names = await namesOf(api, [event]);
  output.result(withNames(event, names), () => describeEvent(event, names, output));
}

async function listEvents(session: Session, options: ListOptions): Promise<void> {
  const { output } = session;
  const { type, verdict, limit } = options;
  const { api, query } = await logQuery(session, 'events list', options);
  const found = await api.events({ type, verdict, ...query, limit });
  const names = await namesOf(api, found);
  output.list(
    found.map((event) => withNames(event, names)),
    (event) => eventLine(event, names, output, { now: api.clock.now(), all: verdict !== undefined }),
    'no events',
  );
  if (found[0]) output.remark(`details: hookrail sim events get ${shortId(found[0].event_uuid)}`);
}

async function followEvents(session: Session, options: TailOptions): Promise<void> {
  const forMs = tailMs(options.for);
  const { type, verdict } = options;
  const { api, about, query } = await logQuery(session, 'events tail', options);
  await tailEvents(session, api, { endpoint: query.endpoint_uuid, type, verdict, forMs, about });
}

async function namesOf(
  api: MerchantApi,
  events: readonly Pick<EventListed, 'endpoints'>[],
): Promise<EndpointNames> {
  const names = new EndpointNames(api);
  for (const { endpoints } of events)
    for (const { endpoint_uuid } of endpoints) await names.learn(endpoint_uuid);
  return names;
}

/** Returns an event for scripts: as the API has it, with the description and URL of each endpoint. */
function withNames<Event extends EventListed | EventAnswer>(event: Event, names: EndpointNames): Event {
  const endpoints = event.endpoints.map((line) => ({
    ...line,
    endpoint: endpointJson(names.of(line.endpoint_uuid)),
  }));
  return { ...event, endpoints };
}

/** Formats an event and where it went. Listeners that do not run are left out, unless `all`: nobody misses it there. */
function eventLine(
  event: EventListed,
  names: EndpointNames,
  output: Output,
  { now, all }: { readonly now: number; readonly all: boolean },
): string {
  const start = `${output.paint('dim', clockTime(event.created_at, now, 'seconds'))}  ${shortId(event.event_uuid)}`;
  const isShown = (line: EventListed['endpoints'][number]) =>
    all || !isIdleListener(names.of(line.endpoint_uuid), line.verdict);
  const routing = event.endpoints.filter(isShown).map((line) => {
    const { label, apiVersion } = names.of(line.endpoint_uuid);
    const isSent = line.delivery_uuid !== null;
    const why = isSent ? '' : ` (${whySkipped(line.verdict, apiVersion)})`;
    const mark = isSent ? output.paint('green', '→') : output.paint('yellow', '-');
    return `${mark} ${shortened(label)}${why}`;
  });
  const none = event.endpoints.length === 0 ? 'no endpoints' : 'only listeners that do not run';
  return output.row([
    `${start}  ${event.type}/${event.subType}`,
    ...(routing.length === 0 ? [none] : routing),
  ]);
}

function describeEvent(event: EventAnswer, names: EndpointNames, output: Output): string {
  const rows = event.endpoints.map((endpoint) => {
    const isDelivered = endpoint.status === 'delivered';
    const { label, apiVersion } = names.of(endpoint.endpoint_uuid);
    const isSent = endpoint.delivery_uuid !== null;
    const verdict = isSent ? (endpoint.status ?? 'routed') : 'not sent';
    return output.row([
      output.paint(isDelivered ? 'green' : 'yellow', verdict),
      shortened(label),
      ...(isSent ? [] : [whySkipped(endpoint.verdict, apiVersion)]),
      `endpoint ${endpoint.endpoint_uuid}`,
      ...(endpoint.delivery_uuid ? [`delivery ${endpoint.delivery_uuid}`] : []),
    ]);
  });
  return [
    `${output.paint('bold', `${event.type}/${event.subType}`)}${event.simulated ? ' (simulated)' : ''}`,
    `event    ${event.event_uuid}`,
    `entity   ${event.entity_uuid} (${event.entity_kind})`,
    ...(event.subject_uuid === event.entity_uuid ? [] : [`about    ${visible(event.subject_uuid)}`]),
    `happened ${event.occurred_at}, routed ${event.routed_at}`,
    '',
    rows.length === 0 ? 'the merchant had no endpoints when it was routed' : rows.join('\n'),
    '',
    event.body === null ? 'the body is no longer kept' : bodyLines(event.body, output),
  ].join('\n');
}
