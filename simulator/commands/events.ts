import type { Argv, CommandModule } from 'yargs';
import { visible } from '../../services/domain/text/visible-text.ts';
import { type EventAnswer, MerchantApi } from '../client/merchant-api.ts';
import type { Output } from '../output.ts';
import { type CommandOptions, inSession, type Surroundings } from '../session.ts';

interface GetOptions extends CommandOptions {
  readonly event: string;
}

/** Shows an event and its routing: the answer to "why did I not get it". */
export function eventsCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const get: CommandModule<object, GetOptions> = {
    command: 'get <event>',
    describe: 'Show one event: its body, and for each endpoint whether it was delivered, or why not',
    builder: (args: Argv) =>
      args.positional('event', { type: 'string', demandOption: true, describe: 'webhook-id' }),
    handler: (options) =>
      inSession(options, surroundings, async (session) => {
        const event = await new MerchantApi(session.api()).event(options.event);
        session.output.result(event, () => describeEvent(event, session.output));
      }),
  };
  return {
    builder: (args: Argv) => args.command(get).demandCommand(1),
    handler: () => {},
  };
}

function describeEvent(event: EventAnswer, output: Output): string {
  const rows = event.endpoints.map((endpoint) => {
    const isDelivered = endpoint.status === 'delivered';
    return output.row([
      output.paint(isDelivered ? 'green' : 'yellow', endpoint.verdict),
      ...(endpoint.status ? [endpoint.status] : []),
      `endpoint ${endpoint.endpoint_uuid}`,
      ...(endpoint.delivery_uuid ? [`delivery ${endpoint.delivery_uuid}`] : []),
    ]);
  });
  return [
    `${output.paint('bold', `${event.type}/${event.subType}`)}${event.simulated ? ' (simulated)' : ''}`,
    `event    ${event.event_uuid}`,
    `entity   ${event.entity_uuid} (${event.entity_kind})`,
    `happened ${event.occurred_at}, routed ${event.routed_at}`,
    '',
    rows.length === 0 ? 'the merchant had no endpoints when it was routed' : rows.join('\n'),
    '',
    event.body === null ? 'the body is no longer kept' : shownBody(event.body, output),
  ].join('\n');
}

/** Returns the exact body or, to a person, the same with a line for each field; a long value is below its name. */
function shownBody(body: string, output: Output): string {
  if (!output.isInteractive) return visible(body);
  return JSON.stringify(JSON.parse(body), null, 2)
    .split('\n')
    .map(visible)
    .map((line) => (line.length <= output.width ? line : line.replace(/^( *)("[^"]*":) /, '$1$2\n$1  ')))
    .join('\n');
}
