import type { Argv, CommandModule } from 'yargs';
import { MACHINES } from '../../../services/domain/catalog/machines.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { ApiRefusal } from '../../client/api-refusal.ts';
import { EndpointNames, endpointJson } from '../../client/endpoint-names.ts';
import { MerchantApi, type StoryAnswer } from '../../client/merchant-api.ts';
import { clockTime } from '../../client/timeline.ts';
import type { Output } from '../../output.ts';
import { shortened } from '../../scenario/live-lines.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';
import { shortId } from '../wait-end.ts';

interface StoryOptions extends CommandOptions {
  readonly id: string;
}

type StoryEvent = StoryAnswer['events'][number];
type QuarantinedEvent = StoryAnswer['quarantine']['events'][number];
type StoryLine = StoryEvent['endpoints'][number];

/** Tells the whole story of a transaction, an account or a user: the answer to "why did I not get it". */
export function storyCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, StoryOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args.positional('id', {
        type: 'string',
        demandOption: true,
        describe: 'Id of a transaction, an account, a wallet, a user; or of one event or delivery about it',
      }) as unknown as Argv<StoryOptions>,
    handler: (options) => inSession(options, surroundings, (session) => tell(session, options)),
  };
}

async function tell(session: Session, { id }: StoryOptions): Promise<void> {
  const { output } = session;
  const api = new MerchantApi(session.api());
  const story = await findStory(api, id);
  const names = new EndpointNames(api);
  for (const { endpoint_uuid } of story.endpoints) await names.learn(endpoint_uuid);
  const endpoints = story.endpoints.map((each) => ({
    ...each,
    endpoint: endpointJson(names.of(each.endpoint_uuid)),
  }));
  output.result({ ...story, endpoints }, () => describeStory(story, names, output, api.clock.now()));
  if (story.has_more)
    output.remark(`older ones: hookrail sim events list --subject ${story.subject_uuid} --limit 1000`);
}

/** Returns the story of what has the id, or of what an event or a delivery with this id is about. */
async function findStory(api: MerchantApi, id: string): Promise<StoryAnswer> {
  try {
    return await api.story(id);
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
    const about = await subjectOf(api, id);
    if (about === undefined) throw error;
    return api.story(about);
  }
}

async function subjectOf(api: MerchantApi, id: string): Promise<string | undefined> {
  const { found } = await api.lookUp(id).catch((error: unknown) => {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
    return { found: [] };
  });
  const delivery = found.find(({ kind }) => kind === 'delivery');
  const [, endpointId = ''] = /webhook-endpoints\/([^/]+)\/deliveries/.exec(delivery?.path ?? '') ?? [];
  if (delivery) return (await api.delivery(endpointId, id)).subject_uuid;
  return found.some(({ kind }) => kind === 'event') ? (await api.event(id)).subject_uuid : undefined;
}

function describeStory(story: StoryAnswer, names: EndpointNames, output: Output, now: number): string {
  const { kind, subject_uuid, entity_uuid, events, held, quarantine } = story;
  const title = `${kind.replaceAll('_', ' ')} ${visible(subject_uuid)}`;
  const ids = kind === 'entity' || entity_uuid === null ? [] : [`of ${entity_uuid}`];
  return [
    output.row([output.paint('bold', title), ...ids]),
    output.prose(events.length === 0 ? 'none of its events was routed' : pathOf(events)),
    ...(held ? [output.paint('yellow', 'the operator has put your deliveries on hold')] : []),
    ...events.flatMap((event) => ['', ...eventLines(event, names, output, now)]),
    ...quarantine.events.flatMap((event) => ['', ...quarantinedLines(event, output, now)]),
    ...(quarantine.note === null ? [] : ['', output.paint('yellow', output.prose(visible(quarantine.note)))]),
    ...(story.endpoints.length === 0 ? [] : ['']),
    ...story.endpoints.map((endpoint) => countsLine(endpoint, names, output)),
  ].join('\n');
}

/** Returns the states in order, and those that the platform's flow may have next. */
function pathOf(events: readonly StoryEvent[]): string {
  const states = events.map(({ state }) => state ?? '?');
  const last = events.at(-1);
  const types = new Set(events.map(({ type }) => type));
  // Events of several types follow no one table.
  const next = last && types.size === 1 ? (MACHINES[last.type]?.[last.state ?? ''] ?? undefined) : undefined;
  const path = states.map(visible).join(' → ');
  if (next === undefined) return path;
  return next.length === 0 ? `${path}: the end` : `${path}; next may be ${next.join(', ')}`;
}

function eventLines(event: StoryEvent, names: EndpointNames, output: Output, now: number): string[] {
  const time = output.paint('dim', clockTime(event.created_at, now, 'seconds'));
  const simulated = event.simulated ? ' (simulated)' : '';
  return [
    `${time}  ${event.type}/${event.subType}${simulated}  ${output.paint('dim', shortId(event.event_uuid))}`,
    ...event.endpoints.map((line) => lineText(line, names, output)),
  ];
}

function quarantinedLines(event: QuarantinedEvent, output: Output, now: number): string[] {
  const { type, subType, quarantined_at, event_uuid, explanation } = event;
  const time = output.paint('dim', clockTime(quarantined_at, now, 'seconds'));
  const what = type === null ? 'an event' : visible(`${type}/${subType ?? '?'}`);
  const id = event_uuid === null ? '' : `  ${output.paint('dim', shortId(event_uuid))}`;
  return [
    `${time}  ${what} (quarantined)${id}`,
    output.prose(`  ${output.paint('yellow', '✗')} ${visible(explanation)}`),
  ];
}

const MARKS: Readonly<Record<string, string>> = { received: '✓', owed: '…', not_received: '✗' };

function lineText(line: StoryLine, names: EndpointNames, output: Output): string {
  const { endpoint_uuid, outcome, explanation } = line;
  const mark = output.paint(outcome === 'received' ? 'green' : 'yellow', MARKS[outcome] ?? '-');
  const label = endpoint_uuid === null ? '' : `${shortened(names.of(endpoint_uuid).label)}: `;
  return output.prose(`  ${mark} ${label}${visible(explanation)}`);
}

function countsLine(
  endpoint: StoryAnswer['endpoints'][number],
  names: EndpointNames,
  output: Output,
): string {
  const { received, owed, not_received, next_attempt_at, status } = endpoint;
  const due = next_attempt_at === null ? '' : `, the next at ${next_attempt_at}`;
  return output.row([
    output.paint('bold', shortened(names.of(endpoint.endpoint_uuid).label)),
    `received ${received}, owed ${owed}${due}, not received ${not_received}`,
    ...(status === 'active' ? [] : [status === null ? 'deleted' : status.replaceAll('_', '-')]),
  ]);
}
