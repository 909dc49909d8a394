import { NOTICE_TYPES, type NoticeFormat, type NoticeType } from '../../services/domain/notices/notice.ts';
import {
  COMMON_FIELDS,
  NOTICE_CATALOG,
  type NoticeField,
} from '../../services/domain/notices/notice-catalog.ts';
import { table } from '../failure-tables.ts';
import { sampleOf } from './notices.ts';

const KINDS: Readonly<Record<NoticeField['kind'], string>> = {
  text: 'text',
  whole: 'whole number',
  time: 'time, RFC 3339',
};

/** Returns the table of the types with their subTypes and fields. */
export function noticeTypesTable(): string {
  const rows = NOTICE_TYPES.map((type) => {
    const { meaning, subTypes, fields } = NOTICE_CATALOG[type];
    const variants = Object.entries(subTypes).map(([name, says]) => `\`${name}\`: ${says}`);
    const named = Object.keys(fields).map((name) => `\`${name}\``);
    return [`\`${type}\``, meaning, variants.join('; '), named.join(', ')];
  });
  return table(['type', 'when', 'subTypes', 'fields of `data`'], rows);
}

/** Returns the table of the fields: those of every notice, then those of some types. */
export function noticeFieldsTable(): string {
  const row = (name: string, { kind, isNullable, meaning }: NoticeField, place: string) => [
    `\`${name}\``,
    `${KINDS[kind]}${isNullable ? ' or null' : ''}`,
    place,
    meaning,
  ];
  const own = NOTICE_TYPES.flatMap((type) =>
    Object.entries(NOTICE_CATALOG[type].fields).map(([name, field]) => row(name, field, `\`${type}\``)),
  );
  const common = Object.entries<NoticeField>(COMMON_FIELDS).map(([name, field]) =>
    row(name, field, 'every type'),
  );
  return table(['field', 'form', 'of', 'meaning'], [...common, ...own]);
}

/** Returns a sample of each type, and one as a message for Slack. */
export function noticeSamples(): string {
  const shown = (title: string, type: NoticeType, format: NoticeFormat) =>
    `### ${title}\n\n\`\`\`json\n${JSON.stringify(sampleOf(type, format), null, 2)}\n\`\`\``;
  const each = NOTICE_TYPES.map((type) => shown(type, type, 'json'));
  return [...each, shown('endpoint.failing for Slack', 'endpoint.failing', 'slack')].join('\n\n');
}
