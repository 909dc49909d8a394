import type { Argv, CommandModule } from 'yargs';
import { subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { START } from '../../services/domain/catalog/machines.ts';
import { API_VERSION_DEFAULT, API_VERSIONS, type ApiVersion } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { isNoticeType } from '../../services/domain/notices/notice.ts';
import { describeInList } from '../catalog/describe-in-list.ts';
import {
  type SubTypeEntry,
  sampleBody,
  subTypeEntry,
  type TypeEntry,
  typeEntry,
} from '../catalog/entries.ts';
import { printNotice, printNotices } from '../catalog/notices.ts';
import { descriptionText, readSchemas, schemaOf } from '../catalog/schemas.ts';
import { usage } from '../exit.ts';
import type { Output } from '../output.ts';
import { type EventName, type NoticeName, parseWebhookName } from '../scenario/event-name.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';

interface CatalogOptions extends CommandOptions {
  readonly event?: string;
  readonly apiVersion?: ApiVersion;
  readonly schema: boolean;
  readonly openapi: boolean;
  readonly notices: boolean;
}

/** Shows the event types, offline. */
export function catalogCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, CatalogOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .positional('event', { type: 'string', describe: 'A type, or type/subType; none: all event types' })
        .options({
          'api-version': { choices: API_VERSIONS, describe: 'Only what this version has' },
          schema: { type: 'boolean', default: false, describe: 'The JSON Schema of the body' },
          notices: { type: 'boolean', default: false, describe: 'The types of operational notices' },
          openapi: { type: 'boolean', default: false, describe: "The API's description (OpenAPI)" },
        })
        .example('$0 catalog fiatToCrypto', 'its subTypes, and what may follow each')
        .example('$0 catalog KYC/FULL_USER --api-version 2.2.8', 'a sample body') as Argv<CatalogOptions>,
    handler: (options) => inSession(options, surroundings, (session) => catalog(session, options)),
  };
}

async function catalog(session: Session, options: CatalogOptions): Promise<void> {
  const { output } = session;
  const { event, apiVersion, schema } = options;
  if (options.openapi) return printDescription(session, options);
  if (options.notices) return printNotices(session, options);
  if (event === undefined) {
    if (schema) throw usage('--schema needs a type', 'hookrail sim catalog KYC/FULL_USER --schema');
    const entries = EVENT_TYPES.map((type) => typeEntry(type, apiVersion));
    for (const entry of entries.filter(({ sub_types }) => sub_types.length > 0))
      output.item(entry, () => describeInList(entry, output));
    output.remark('more of one: hookrail sim catalog fiatToCrypto');
    output.remark('notices about hookrail itself: hookrail sim catalog --notices');
    return;
  }
  const name = parseWebhookName(event);
  const isType = !event.includes('/');
  if (isNotice(name)) return printNotice(session, name, { ...options, isType });
  if (schema) return output.result(...(await schemaResult(name, isType, apiVersion)));
  if (isType) {
    if (apiVersion !== undefined) mustHave(name.type, undefined, apiVersion);
    const entry = typeEntry(name.type, apiVersion);
    output.result(entry, () => describeType(entry, output));
    output.remark(`a sample body: hookrail sim catalog ${name.type}/${entry.sub_types[0]?.subType}`);
    return;
  }
  printSubType(session, name, apiVersion);
}

function printDescription({ output }: Session, { event, schema, output: format }: CatalogOptions) {
  if (event !== undefined || schema)
    throw usage('--openapi prints the whole description: give it alone', 'hookrail sim catalog --openapi');
  if (format === undefined || format === 'pretty') return output.result({}, descriptionText().trimEnd());
  return import('yaml').then(({ parse }) => output.result(parse(descriptionText()), ''));
}

function isNotice(name: EventName | NoticeName): name is NoticeName {
  return isNoticeType(name.type);
}

async function schemaResult(
  { type, subType }: EventName,
  isType: boolean,
  version: ApiVersion | undefined,
): Promise<[object, string]> {
  if (!isType || version !== undefined)
    mustHave(type, isType ? undefined : subType, version ?? usualVersion(type, subType));
  const name = isType ? type : `${type}.${subType}.${version ?? usualVersion(type, subType)}`;
  const schema = schemaOf(name, await readSchemas());
  return [schema, JSON.stringify(schema, null, 2)];
}

function printSubType(
  { output }: Session,
  { type, subType }: EventName,
  given: ApiVersion | undefined,
): void {
  const version = given ?? usualVersion(type, subType);
  mustHave(type, subType, version);
  const entry = subTypeEntry(type, subType);
  const body = sampleBody(type, subType, version) ?? '';
  const { states } = typeEntry(type, version);
  const datum = { type, ...entry, states, api_version: version, body: JSON.parse(body) };
  output.result(datum, () =>
    [
      output.paint('bold', `${type}/${subType}`),
      output.prose(entry.when),
      output.table([...followRows(entry, states), ['versions', entry.versions.join(', ')]]),
      '',
      output.paint('dim', `body in version ${version}`),
      JSON.stringify(datum.body, null, 2),
    ].join('\n'),
  );
  output.remark(`send one: hookrail sim trigger ${type}/${subType}`);
}

function followRows(entry: SubTypeEntry, states: TypeEntry['states']): string[][] {
  if (states !== null) {
    return Object.entries(states).map(([state, follows]) => [
      state === START ? 'first status' : `after ${state}`,
      follows.join(', ') || 'nothing: it is final',
    ]);
  }
  if (entry.follows === null) return [['follows', 'it may come at any time']];
  const follows = entry.follows.join(', ') || 'nothing: it is final';
  return [...(entry.first ? [['first', 'it may be the first event']] : []), ['may follow', follows]];
}

function describeType(entry: TypeEntry, output: Output): string {
  const blocks = entry.sub_types.map((each) => {
    const where = each.versions.length < API_VERSIONS.length ? `  (${each.versions.join(', ')} only)` : '';
    const head = `${output.paint('bold', each.subType)}${where}`;
    const rows = followRows(each, entry.states).map(([name, value]) => output.prose(`    ${name}: ${value}`));
    return [head, output.prose(`    ${each.when}`), ...rows].join('\n');
  });
  const kinds = entry.entity_kinds.map((kind) => kind.toLowerCase()).join(' or ');
  return [
    output.paint('bold', entry.type),
    output.prose(`${entry.about} The uuid names a ${kinds}.`),
    '',
    ...blocks,
  ].join('\n');
}

/** The newest version, unless it lacks the subType. */
function usualVersion(type: EventName['type'], subType: string): ApiVersion {
  return subTypesOf(type, API_VERSION_DEFAULT).includes(subType)
    ? API_VERSION_DEFAULT
    : (subTypeEntry(type, subType).versions[0] ?? API_VERSION_DEFAULT);
}

/** Throws a usage failure when a version has no such type or subType; endpoints of that version skip the events. */
function mustHave(type: EventName['type'], subType: string | undefined, version: ApiVersion): void {
  const names = subTypesOf(type, version);
  if (subType === undefined ? names.length > 0 : names.includes(subType)) return;
  const what = subType === undefined || names.length === 0 ? `type ${type}` : `${type}/${subType}`;
  const has = names.length > 0 ? `; it has ${names.join(', ')}` : '';
  throw usage(
    `API version ${version} has no ${what}${has}: its endpoints skip these events`,
    `hookrail sim catalog ${subType === undefined ? type : `${type}/${subType}`} --api-version ${API_VERSION_DEFAULT}`,
  );
}
