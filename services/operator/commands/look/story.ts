import { timestamp, timestampOrNull } from '../../../api/endpoint-json.ts';
import { NOT_SEARCHED, unsentOf } from '../../../api/find/quarantined-events.ts';
import { readStory, type Story } from '../../../api/find/story.ts';
import type { QuarantinedFound, QuarantinedHead } from '../../../broker/broker.ts';
import { subjectIdFrom } from '../../../domain/catalog/subject.ts';
import { QUARANTINE_TEXTS } from '../../../domain/routing/quarantine-texts.ts';
import { plain, WIDTH } from '../../../messages/text-layout.ts';
import type { Given } from '../arguments.ts';
import { type OperatorDeps, on } from '../command.ts';
import { requireMerchant } from '../merchants.ts';
import { OperatorError } from '../operator-error.ts';
import { MERCHANT } from './filters.ts';
import { lookInQuarantine, notSearched, type QuarantineLook } from './in-quarantine.ts';

/** The story of a transaction, an account or a user, as its merchant reads it. */

const ARGS = {
  id: {
    type: 'text',
    required: true,
    positional: true,
    describe: 'Id of a transaction, an account, a user or a corporate',
  },
  ...MERCHANT,
} as const;

export const STORY_COMMANDS = {
  story: on('store', {
    describe: 'Tell what became of a transaction, an account or a user, and why something did not arrive',
    isRead: true,
    args: ARGS,
    isLong: true,
    run: read,
    text: (stories) => plain.fold(stories.map(storyText).join('\n\n'), WIDTH),
  }),
};

/** Events that are read to learn whose an id is. Merchants choose no ids: it is one's, nearly always. */
const OWNERS_FROM = 100;

async function read(deps: OperatorDeps, { id: given, merchant }: Given<typeof ARGS>) {
  const { store } = deps;
  await requireMerchant(deps, merchant);
  const id = subjectIdFrom(given) ?? given;
  const look = await lookInQuarantine(deps, id, merchant);
  const owners = merchant === undefined ? await ownersOf(store, id) : [merchant];
  const kept = look.records.flatMap(({ merchantId }) => merchantId ?? []);
  const stories = [];
  for (const merchantId of new Set([...owners, ...kept])) {
    const search = look.fault === null ? unsentOf(store, merchantId, partOf(look, merchantId)) : NOT_SEARCHED;
    const story = await readStory(store, merchantId, id, await search);
    if (story !== undefined) stories.push({ merchantId, ...storyJson(story) });
  }
  if (stories.length > 0) return stories;
  const unread = look.records.some(({ merchantId }) => merchantId === null)
    ? `one is in quarantine, and its merchant could not be read (see quarantine list --about ${id})`
    : 'it was deleted with age, or was never published';
  throw new OperatorError(`the log has no event about ${id}: ${unread}${notSearched(look)}`);
}

function partOf({ records, since }: QuarantineLook, of: string): QuarantinedFound {
  return { records: records.filter(({ merchantId }) => merchantId === of), since };
}

/** Returns the merchants that have events about an id. */
export async function ownersOf(
  { lists }: Pick<OperatorDeps['store'], 'lists'>,
  id: string,
): Promise<readonly string[]> {
  const pages = await Promise.all([
    lists.events(null, { entityId: id, limit: OWNERS_FROM }),
    lists.events(null, { subjectId: id, limit: OWNERS_FROM }),
  ]);
  return [...new Set(pages.flatMap(({ records }) => records.map(({ event }) => event.merchantId)))];
}

function storyJson({ subjectId, kind, entityId, events, endpoints, quarantine, isPaused, hasMore }: Story) {
  return {
    ...{ subjectId, kind, entityId },
    state: events.at(-1)?.state ?? null,
    held: isPaused,
    events: events.map(({ listed, state, lines }) => ({
      eventId: listed.event.eventId,
      type: listed.event.type,
      subType: listed.event.subType,
      state,
      occurredAt: timestamp(listed.event.occurredAt),
      routedAt: timestamp(listed.routedAt),
      endpoints: lines.map(({ endpointId, verdict, fate, explanation, deliveries }) => ({
        ...{ endpointId, verdict, outcome: fate, explanation },
        deliveries: deliveries.map(({ deliveryId, status, attemptsMade, nextAttemptAt }) => ({
          ...{ deliveryId, status, attemptsMade },
          nextAttemptAt: timestampOrNull(nextAttemptAt),
        })),
      })),
    })),
    endpoints: endpoints.map(({ endpointId, record, counts, nextAttemptAt }) => ({
      endpointId,
      url: record?.url ?? null,
      status: record?.status ?? null,
      ...counts,
      nextAttemptAt: timestampOrNull(nextAttemptAt),
    })),
    quarantine: { searched: quarantine.searched, events: quarantine.records.map(quarantinedJson) },
    hasMore,
  };
}

function quarantinedJson({ eventId, type, subType, at, reason, detail }: QuarantinedHead) {
  const { title, remedy } = QUARANTINE_TEXTS[reason];
  return {
    ...{ eventId, type: type ?? null, subType: subType ?? null, at: timestamp(at), reason, title },
    ...{ detail, remedy },
  };
}

/** Prints a paragraph for each event, oldest first, and a line for each endpoint. */
function storyText(story: Awaited<ReturnType<typeof read>>[number]): string {
  const { merchantId, kind, subjectId, state, held, events, endpoints, quarantine, hasMore } = story;
  return [
    `${kind.replaceAll('_', ' ')} ${subjectId} of merchant ${merchantId}${state === null ? '' : `: ${state}`}`,
    ...(held ? ['the merchant is on hold: its deliveries wait until merchants resume'] : []),
    ...(hasMore ? ['there are older events: events list --subject has them'] : []),
    ...events.flatMap((event) => [
      `${event.occurredAt}  ${event.type}/${event.subType}  event ${event.eventId}`,
      ...event.endpoints.flatMap(({ endpointId, outcome, explanation, deliveries }) => [
        `  ${outcome.replaceAll('_', ' ')}${endpointId === null ? '' : ` at ${endpointId}`}: ${explanation}`,
        ...deliveries.map(({ deliveryId, status, attemptsMade }) => {
          const attempts = `${attemptsMade} ${attemptsMade === 1 ? 'attempt' : 'attempts'}`;
          return `    delivery ${deliveryId}: ${status}, ${attempts}`;
        }),
      ]),
    ]),
    ...quarantine.events
      .toReversed()
      .flatMap(({ at, type, subType, eventId, title, detail, remedy }) => [
        `${at}  ${type ?? 'an event'}${subType === null ? '' : `/${subType}`}  event ${eventId ?? 'without an id'}`,
        `  in quarantine: ${title}: ${detail}. ${remedy}`,
      ]),
    ...(quarantine.searched === 'none' ? ['the quarantine could not be searched'] : []),
    ...endpoints.map(
      ({ endpointId, url, received, owed, not_received: missed }) =>
        `${url ?? `the deleted endpoint ${endpointId}`}: ${received} received, ${owed} owed, ${missed} not received`,
    ),
  ].join('\n');
}
