import type { Argv, CommandModule } from 'yargs';
import { subTypesOf, typesOf } from '../../../services/domain/catalog/catalog.ts';
import { API_VERSIONS } from '../../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../../services/domain/event.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import {
  type ComparedField,
  compareBodies,
  isDifferent,
} from '../../../services/domain/versions/body-differences.ts';
import { type EventAnswer, type EventListed, MerchantApi } from '../../client/merchant-api.ts';
import { clockTime } from '../../client/timeline.ts';
import { counted } from '../../counted.ts';
import { usage } from '../../exit.ts';
import type { Output } from '../../output.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';
import { shortId } from '../wait-end.ts';
import { ABOUT, type AboutOptions, aboutQuery } from './filters.ts';
import { findEvent } from './find.ts';

interface CompareOptions extends CommandOptions, AboutOptions {
  readonly events?: string[];
  readonly last: number;
  readonly type?: EventType;
  readonly all: boolean;
}

const [OLDER, NEWER] = API_VERSIONS;
/** A page of the list, which is one request for each version. */
const LAST_MAX = 100;
const NONE = 'no events to compare; send one: hookrail sim trigger fiatToCrypto/SUCCESS';

type AnyEvent = Pick<
  EventListed | EventAnswer,
  'event_uuid' | 'type' | 'subType' | 'occurred_at' | 'body' | 'body_removed'
>;

/** An event with its two bodies. */
interface Compared {
  readonly event: AnyEvent;
  readonly result: 'same' | 'different' | 'only_newer' | 'not_kept' | 'not_written';
  readonly fields: readonly ComparedField[];
}

/** Shows the bodies of events in both versions of the API, with what differs. */
export function compareCommand(surroundings: Surroundings): CommandModule<object, CompareOptions> {
  return {
    command: 'compare [events..]',
    describe: `Show events as ${OLDER} and ${NEWER} write them, and mark what differs`,
    builder: (args: Argv) =>
      args
        .positional('events', {
          type: 'string',
          array: true,
          describe: 'webhook-id of each, or 8 digits of it (default: the last ones)',
        })
        .options({
          last: { type: 'number', default: 5, describe: `Number of events, ${LAST_MAX} at most` },
          type: { choices: EVENT_TYPES, describe: 'Only of this event type' },
          ...ABOUT,
          all: { type: 'boolean', default: false, describe: 'Show the fields that are the same, too' },
        }) as unknown as Argv<CompareOptions>,
    handler: (options) => inSession(options, surroundings, (session) => compare(session, options)),
  };
}

async function compare(session: Session, options: CompareOptions): Promise<void> {
  const { output } = session;
  const { last } = options;
  if (!Number.isInteger(last) || last < 1 || last > LAST_MAX)
    throw usage(
      `--last must be a whole number from 1 to ${LAST_MAX}`,
      'hookrail sim events compare --last 5',
    );
  const api = new MerchantApi(session.api());
  const named = options.events ?? [];
  const newer = named.length === 0 ? await newest(api, options) : await byName(api, named);
  const older = named.length === 0 ? await bodiesOf(api, options) : new Map<string, string | null>();
  const compared: Compared[] = [];
  for (const event of newer) {
    // Events that came between the two reads have pushed the oldest ones out of the second page.
    const before = older.has(event.event_uuid)
      ? older.get(event.event_uuid)
      : (await api.event(event.event_uuid, OLDER)).body;
    compared.push(judged(event, before ?? null));
  }
  const now = api.clock.now();
  for (const [index, each] of compared.entries()) {
    const gap = index === 0 ? '' : '\n';
    output.item(jsonOf(each), () => gap + described(each, options.all, output, now));
  }
  if (compared.length === 0) output.list([], () => '', NONE);
  else output.remark(summary(compared));
}

async function newest(api: MerchantApi, options: CompareOptions): Promise<readonly AnyEvent[]> {
  return api.events({ ...selection(options), include: 'body', api_version: NEWER });
}

async function bodiesOf(api: MerchantApi, options: CompareOptions): Promise<Map<string, string | null>> {
  const listed = await api.events({ ...selection(options), include: 'body', api_version: OLDER });
  return new Map(listed.map(({ event_uuid, body }) => [event_uuid, body ?? null]));
}

function selection({ type, last, ...about }: CompareOptions) {
  return { type, ...aboutQuery(about), limit: last };
}

async function byName(api: MerchantApi, named: readonly string[]): Promise<readonly AnyEvent[]> {
  const found: AnyEvent[] = [];
  for (const id of named) found.push(await findEvent(api, id));
  return found;
}

function judged(event: AnyEvent, older: string | null): Compared {
  const newer = event.body ?? null;
  if (event.body_removed) return { event, result: 'not_kept', fields: [] };
  if (newer === null) return { event, result: 'not_written', fields: [] };
  if (older === null) return { event, result: 'only_newer', fields: [] };
  const fields = compareBodies(older, newer);
  return { event, result: fields.some(isDifferent) ? 'different' : 'same', fields };
}

/** Returns what scripts get: every field that differs, and the values as they stand in the JSON. */
function jsonOf({ event, result, fields }: Compared): object {
  const { event_uuid, type, subType, occurred_at } = event;
  const differences = fields
    .filter(isDifferent)
    .map(({ path, older, newer }) => ({ path, [OLDER]: older ?? null, [NEWER]: newer ?? null }));
  return { event_uuid, type, subType, occurred_at, result, differences };
}

function described({ event, result, fields }: Compared, all: boolean, output: Output, now: number): string {
  const time = output.paint('dim', clockTime(event.occurred_at, now, 'seconds'));
  const name = output.paint('bold', visible(`${event.type}/${event.subType}`));
  const head = `${time}  ${shortId(event.event_uuid)}  ${name}`;
  const different = fields.filter(isDifferent);
  const shown = all ? fields : different;
  const same = fields.length - different.length;
  const rows = [['', 'field', OLDER, NEWER], ...shown.map((field) => rowOf(field, output))];
  return [
    head,
    ...(shown.length > 0 ? [output.table(rows)] : []),
    ...notes({ event, result, fields: different }, same),
  ].join('\n');
}

const MARKS = { added: '+', removed: '-', changed: '≠', same: '=' } as const;

function rowOf(field: ComparedField, output: Output): readonly string[] {
  const { path, older, newer } = field;
  if (!isDifferent(field)) return [MARKS.same, visible(path), 'the same', visible(newer ?? '')];
  const mark = older === undefined ? MARKS.added : newer === undefined ? MARKS.removed : MARKS.changed;
  const value = (text: string | undefined) => (text === undefined ? 'none' : visible(text));
  return [output.paint('yellow', mark), visible(path), value(older), value(newer)];
}

function notes({ event, result }: Compared, same: number): readonly string[] {
  const { type, subType } = event;
  switch (result) {
    case 'same':
      return [`  both versions have the same body: ${counted(same, 'field')}`];
    case 'different':
      return [`  ${counted(same, 'field')} ${same === 1 ? 'is' : 'are'} the same`];
    case 'only_newer':
      return [`  only in ${NEWER}: ${OLDER} does not have the ${lacking(type, subType)}`];
    case 'not_kept':
      return ['  its body is no longer kept'];
    case 'not_written':
      return ['  it has no body that can be written'];
  }
}

function lacking(type: string, subType: string): string {
  const known = EVENT_TYPES.find((each) => each === type);
  const isSubType = known !== undefined && typesOf(OLDER).includes(known);
  return isSubType && !subTypesOf(known, OLDER).includes(subType)
    ? `subType ${visible(subType)}`
    : `type ${visible(type)}`;
}

function summary(compared: readonly Compared[]): string {
  const count = (wanted: Compared['result']) => compared.filter(({ result }) => result === wanted).length;
  const parts = [
    [count('different'), 'differ'],
    [count('same'), 'the same'],
    [count('only_newer'), `only in ${NEWER}`],
    [count('not_kept') + count('not_written'), 'without a body'],
  ] as const;
  const said = parts.filter(([number]) => number > 0).map(([number, text]) => `${number} ${text}`);
  return `${counted(compared.length, 'event')}: ${said.join(', ')}`;
}
