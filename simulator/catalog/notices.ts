import { NOTICE_TYPES, type NoticeType } from '../../services/domain/notices/notice.ts';
import {
  fieldsOfNotice,
  NOTICE_CATALOG,
  subTypesOfNotice,
} from '../../services/domain/notices/notice-catalog.ts';
import { noticeSample } from '../../services/samples/notice-sample.ts';
import { usage } from '../exit.ts';
import type { Output } from '../output.ts';
import type { NoticeName } from '../scenario/event-name.ts';
import type { Session } from '../session.ts';
import { describeInList } from './describe-in-list.ts';
import { plain } from './entries.ts';
import { readSchemas, schemaOf } from './schemas.ts';

interface Given {
  readonly event?: string;
  readonly schema: boolean;
  readonly apiVersion?: string;
}

/** A type of operational notice, as the catalogue lists it. */
interface NoticeTypeEntry {
  readonly type: NoticeType;
  readonly about: string;
  readonly sub_types: readonly { readonly subType: string; readonly when: string }[];
  /** The meanings of the values of `data`, by name. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Lists the types of operational notices. */
export function printNotices({ output }: Session, { event, schema, apiVersion }: Given): void {
  if (event !== undefined || schema || apiVersion !== undefined)
    throw usage(
      '--notices lists all types of notices: give it alone',
      'hookrail sim catalog endpoint.failing',
    );
  for (const entry of NOTICE_TYPES.map(noticeEntry)) output.item(entry, () => describeInList(entry, output));
  output.remark('more of one: hookrail sim catalog endpoint.failing');
}

/** Shows a type of notice, or the body of a subType: it is the same in all versions. */
export async function printNotice(
  { output }: Session,
  { type, subType }: NoticeName,
  { schema, apiVersion, isType }: Given & { readonly isType: boolean },
): Promise<void> {
  if (apiVersion !== undefined)
    throw usage('a notice has no API versions', `hookrail sim catalog ${type}/${subType}`);
  if (schema) {
    const found = schemaOf(`notice.${type}`, await readSchemas());
    return output.result(found, JSON.stringify(found, null, 2));
  }
  const entry = noticeEntry(type);
  if (isType) {
    output.result(entry, () => describeNotice(entry, output));
    output.remark(`a sample body: hookrail sim catalog ${type}/${subType}`);
    return;
  }
  const when = entry.sub_types.find((each) => each.subType === subType)?.when ?? '';
  const body = JSON.parse(noticeBody(type, subType));
  output.result({ type, subType, when, body }, () =>
    [output.paint('bold', `${type}/${subType}`), output.prose(when), '', JSON.stringify(body, null, 2)].join(
      '\n',
    ),
  );
  output.remark(`send one as a test: hookrail sim endpoints test <endpoint> --event ${type}/${subType}`);
}

function noticeEntry(type: NoticeType): NoticeTypeEntry {
  const { meaning, subTypes } = NOTICE_CATALOG[type];
  const fields = Object.entries(fieldsOfNotice(type)).map(([name, field]) => [name, plain(field.meaning)]);
  return {
    type,
    about: plain(meaning),
    sub_types: subTypesOfNotice(type).map((subType) => ({ subType, when: plain(subTypes[subType] ?? '') })),
    fields: Object.fromEntries(fields),
  };
}

/** Returns the body of a notice's sample, as JSON. */
function noticeBody(type: NoticeType, subType: string): string {
  return Buffer.from(noticeSample(type, 'json', subType)).toString('utf8');
}

function describeNotice({ type, about, sub_types, fields }: NoticeTypeEntry, output: Output): string {
  return [
    output.paint('bold', type),
    output.prose(about),
    '',
    output.table(sub_types.map(({ subType, when }) => [output.paint('bold', subType), when])),
    '',
    output.paint('dim', 'data'),
    output.table(Object.entries(fields)),
  ].join('\n');
}
