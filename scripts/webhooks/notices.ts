import { NOTICE_TYPES, type NoticeFormat, type NoticeType } from '../../services/domain/notices/notice.ts';
import {
  fieldsOfNotice,
  NOTICE_CATALOG,
  type NoticeField,
} from '../../services/domain/notices/notice-catalog.ts';
import { noticeSample } from '../../services/samples/notice-sample.ts';
import type { Json } from './body-schema.ts';

/** The webhook that stands for all operational notices. */
export const NOTICE_WEBHOOK = 'operationalNotice';

const SLACK = 'notice.slack';
const nameOf = (type: NoticeType) => `notice.${type}`;
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Returns the body of a sample, parsed. */
export function sampleOf(type: NoticeType, format: NoticeFormat): unknown {
  return JSON.parse(Buffer.from(noticeSample(type, format)).toString('utf8'));
}

/** Returns the schemas of notices by name: one of each type, and that of a message for Slack. */
export function noticeSchemas(): Record<string, Json> {
  const slack = {
    title: 'An operational notice for Slack',
    description: 'A message as Slack’s incoming webhooks take it, to endpoints with `format: slack`.',
    type: 'object',
    required: ['text', 'blocks'],
    properties: { text: { type: 'string' }, blocks: { type: 'array', items: { type: 'object' } } },
  };
  return {
    ...Object.fromEntries(NOTICE_TYPES.map((type) => [nameOf(type), schemaOf(type)])),
    [SLACK]: slack,
  };
}

function schemaOf(type: NoticeType): Json {
  const { meaning, subTypes } = NOTICE_CATALOG[type];
  const fields = fieldsOfNotice(type);
  return {
    title: `Operational notice ${type}`,
    description: meaning,
    type: 'object',
    required: ['type', 'subType', 'uuid', 'data'],
    properties: {
      type: { type: 'string', const: type },
      subType: { type: 'string', 'x-known-values': Object.keys(subTypes) },
      uuid: {
        description: 'The endpoint that it is about, else the merchant, else the notice.',
        type: 'string',
      },
      data: {
        type: 'object',
        required: Object.keys(fields),
        properties: Object.fromEntries(
          Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]),
        ),
      },
    },
  };
}

function fieldSchema({ kind, isNullable, meaning }: NoticeField): Json {
  const type = kind === 'whole' ? 'integer' : 'string';
  return {
    description: meaning,
    type: isNullable ? [type, 'null'] : type,
    ...(kind === 'time' ? { format: 'date-time' } : {}),
  };
}

/** Returns the schema of a notice's body, and an example of each type. */
export function noticeContent(): Json {
  const examples = NOTICE_TYPES.map((type) => [
    type,
    { summary: NOTICE_CATALOG[type].meaning, value: sampleOf(type, 'json') },
  ]);
  const slack = { summary: 'endpoint.failing for Slack', value: sampleOf('endpoint.failing', 'slack') };
  return {
    schema: { anyOf: [...NOTICE_TYPES.map((type) => ref(nameOf(type))), ref(SLACK)] },
    examples: { ...Object.fromEntries(examples), slack },
  };
}
