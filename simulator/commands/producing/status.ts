import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../../client/duration.ts';
import type { components } from '../../../client/generated/merchant-api.ts';
import { isUuid } from '../../../services/domain/ids.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { withTexts } from '../../client/answer-shape.ts';
import { type ApiClient, bodyOf } from '../../client/api-client.ts';
import { ApiRefusal } from '../../client/api-refusal.ts';
import { CommandFailure, EXIT, usage } from '../../exit.ts';
import type { Output } from '../../output.ts';
import { parseWait } from '../../scenario/run-options.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';
import { whyLines } from './why-lines.ts';

type Published = components['schemas']['PublishedEventStatus'];
type Kept = Published['quarantine'][number];

interface StatusOptions extends CommandOptions {
  readonly event: string;
  readonly wait?: string | boolean;
}

const ASK_MS = 250;
const QUARANTINE = 'hookrail operator quarantine list';
const SHAPE = {
  ...withTexts<Published>()('event_id', 'status', 'detail'),
  lists: { quarantine: withTexts<Kept>()('quarantined_at', 'title', 'detail', 'remedy') },
};

/** Shows what became of an event to the producer who published it: with a producer key, never who got it. */
export function statusCommand(surroundings: Surroundings): CommandModule<object, StatusOptions> {
  return {
    command: 'status <event>',
    describe: 'With a producer key: whether an event was accepted, routed or quarantined, and why',
    builder: (args: Argv) =>
      args
        .positional('event', { type: 'string', demandOption: true, describe: 'header.eventId, a whole UUID' })
        .options({
          wait: {
            type: 'string',
            describe: 'Wait until it is routed or quarantined, at most this long: 10s',
          },
        }) as unknown as Argv<StatusOptions>,
    handler: (options) => inSession(options, surroundings, (session) => showStatus(session, options)),
  };
}

async function showStatus(session: Session, { event, wait: given }: StatusOptions): Promise<void> {
  const { output } = session;
  const wait = parseWait(given, false);
  if (!isUuid(event))
    throw usage(`"${visible(event)}" is not a UUID: a producer names an event by its whole header.eventId`);
  const producer = session.producer();
  const found = await settled(session, producer, event, wait.ms);
  if (found === undefined) return;
  output.result(found, () => describePublished(found, output));
  if (!wait.isAsked || found.status === 'routed') return;
  if (found.status === 'quarantined')
    throw new CommandFailure(EXIT.expectation, 'the event is in quarantine', [QUARANTINE]);
  throw new CommandFailure(EXIT.timeout, `the event is not routed after ${formatDuration(wait.ms)}`, [
    `hookrail sim events status ${event} --wait 60s`,
    'hookrail sim doctor',
  ]);
}

/**
 * Returns what became of the event, once it is routed or quarantined or the time is over; undefined after Ctrl-C. An event
 * that another process accepted is unknown until then, so it is asked for again, too.
 */
async function settled(
  session: Session,
  producer: ApiClient,
  event: string,
  waitMs: number,
): Promise<Published | undefined> {
  const deadline = Date.now() + waitMs;
  const ended = session.output.waiting(() => 'waiting until the event is routed');
  try {
    while (!session.signal.aborted) {
      const found = await ask(producer, event);
      const isOver = Date.now() >= deadline;
      if (found instanceof ApiRefusal && isOver) throw unknown(found);
      if (!(found instanceof ApiRefusal) && (isOver || found.status !== 'accepted')) return found;
      await session.pause(Math.min(ASK_MS, Math.max(0, deadline - Date.now())));
    }
    return undefined;
  } finally {
    ended();
  }
}

/** Returns the answer, or the refusal that says that the key may see no such event. */
async function ask(producer: ApiClient, event: string): Promise<Published | ApiRefusal> {
  const params = { path: { event_id: event.toLowerCase() } };
  try {
    return await bodyOf(producer.rest.GET('/producer/events/{event_id}', { params }), SHAPE);
  } catch (error) {
    if (error instanceof ApiRefusal && error.problem.code === 'event_not_found') return error;
    throw error;
  }
}

function unknown({ problem }: ApiRefusal): CommandFailure {
  return new CommandFailure(EXIT.api, problem.detail ?? 'there is no such event', [
    'publish it again under the same id: it is delivered once',
    QUARANTINE,
    'check which producer key is used with: hookrail sim whoami',
  ]);
}

/** Formats an event's status as a producer reads it. */
function describePublished(found: Published, output: Output): string {
  const { event_id, status, detail, merchant_id, accepted_at, routed_at, quarantine } = found;
  const times = [
    ...(accepted_at === null ? [] : [`accepted ${accepted_at}`]),
    ...(routed_at === null ? [] : [`routed ${routed_at}`]),
  ];
  return [
    `${output.paint(status === 'routed' ? 'green' : 'yellow', status)}  ${event_id}`,
    output.prose(detail),
    ...(merchant_id === null ? [] : [`merchant ${visible(merchant_id)}`]),
    ...(times.length === 0 ? [] : [times.join(', ')]),
    ...quarantine.flatMap((kept) => [
      '',
      ...(status === 'quarantined' ? [] : ['Another event with this id is in quarantine:']),
      ...whyLines(kept, output, `${kept.code}, since ${kept.quarantined_at}`),
    ]),
  ].join('\n');
}
