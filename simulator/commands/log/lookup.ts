import type { Argv, CommandModule } from 'yargs';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { ApiRefusal } from '../../client/api-refusal.ts';
import { type LookUpAnswer, MerchantApi } from '../../client/merchant-api.ts';
import { CommandFailure, EXIT } from '../../exit.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface LookUpOptions extends CommandOptions {
  readonly id: string;
}

/** Says what any id is, and the command that shows it. */
export function lookUpCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, LookUpOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args.positional('id', {
        type: 'string',
        demandOption: true,
        describe: 'Any id: of an event, a delivery, an endpoint, a transaction, a user, a replay, a request',
      }) as unknown as Argv<LookUpOptions>,
    handler: (options) => inSession(options, surroundings, (session) => lookUp(session, options)),
  };
}

async function lookUp(session: Session, { id }: LookUpOptions): Promise<void> {
  const { output } = session;
  const answer = await new MerchantApi(session.api()).lookUp(id);
  const items = answer.found.map((each) => ({
    id: answer.id,
    ...each,
    command: commandFor(answer.id, each),
  }));
  output.list(
    items,
    ({ kind, summary }) => output.row([output.paint('bold', kind.replaceAll('_', ' ')), visible(summary)]),
    'nothing has this id',
  );
  for (const command of new Set(items.map((each) => each.command))) output.remark(`details: ${command}`);
}

const STORIES = '/merchant/subjects/';

/** Returns the command that shows it. */
export function commandFor(id: string, { kind, path }: LookUpAnswer['found'][number]): string {
  const [, endpointId = ''] = /webhook-endpoints\/([^/]+)/.exec(path) ?? [];
  // Also an event's, where it is in quarantine: then only the story has it.
  if (path.startsWith(STORIES)) return storyOf(decodeURIComponent(path.slice(STORIES.length)));
  switch (kind) {
    case 'event':
      return `hookrail sim events get ${id}`;
    case 'delivery':
      return `hookrail sim deliveries get ${id} --endpoint ${endpointId}`;
    case 'endpoint':
      return `hookrail sim endpoints get ${id}`;
    case 'replay':
    case 'request':
      return `hookrail sim endpoints get ${endpointId}`;
    default:
      return storyOf(id);
  }
}

function storyOf(id: string): string {
  return `hookrail sim story ${/^[\w-]+$/.test(id) ? id : `'${id}'`}`;
}

/**
 * Returns the failure of a search for one kind of thing: where the id is another thing's, or of an event in quarantine, with
 * what it is and the command that shows it.
 */
export async function orWhatItIs(
  api: MerchantApi,
  { id, wanted }: { readonly id: string; readonly wanted: string },
  failure: unknown,
): Promise<unknown> {
  if (failure instanceof ApiRefusal && failure.status !== 404) return failure;
  const { found } = await api.lookUp(id).catch(() => ({ found: [] }));
  const [what] = found;
  if (what === undefined) return failure;
  const says =
    what.kind === wanted
      ? `${id}: ${visible(what.summary)}`
      : `${id} is ${nounOf(what.kind)}, not ${nounOf(wanted)}`;
  return new CommandFailure(EXIT.api, says, [commandFor(id, what)]);
}

function nounOf(kind: string): string {
  const noun = kind.replaceAll('_', ' ');
  return kind === 'entity' ? 'a user or a corporate' : `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
