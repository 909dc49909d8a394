import type { components } from '../../client/generated/merchant-api.ts';
import { CommandFailure, EXIT } from '../exit.ts';

type Schemas = components['schemas'];

/** The properties that the commands rely on, by their kind; `list` is an array of objects with these properties. */
export interface Shape {
  readonly texts?: readonly string[];
  readonly lists?: Readonly<Record<string, Shape>>;
}

/** The names of an answer's properties that are always a text. */
type TextsOf<Answer> = { [Name in keyof Answer]-?: Answer[Name] extends string ? Name : never }[keyof Answer];

/** Returns the shape of an answer that is described in openapi.yaml: only names of its texts compile. */
export const withTexts =
  <Answer>() =>
  (...texts: readonly (TextsOf<Answer> & string)[]): { readonly texts: readonly string[] } => ({ texts });

export const ENDPOINT = withTexts<Schemas['WebhookEndpoint']>()(
  'uuid',
  'url',
  'description',
  'status',
  'secret_hint',
  'created_at',
);
const DELIVERY_TEXTS = [
  'delivery_uuid',
  'event_uuid',
  'endpoint_uuid',
  'type',
  'subType',
  'status',
  'created_at',
] as const;
export const DELIVERY: Shape = withTexts<Schemas['Delivery']>()(...DELIVERY_TEXTS);
export const DELIVERY_DETAIL: Shape = {
  ...withTexts<Schemas['DeliveryDetail']>()(...DELIVERY_TEXTS),
  lists: { attempts: withTexts<Schemas['Attempt']>()('started_at') },
};
export const EVENT: Shape = withTexts<Schemas['EventDetail'] & Schemas['EventListed']>()(
  'event_uuid',
  'type',
  'subType',
);
export const REPLAY: Shape = withTexts<Schemas['Replay']>()('replay_uuid', 'status');

export const STORY: Shape = {
  ...withTexts<Schemas['Story']>()('subject_uuid', 'kind'),
  lists: {
    events: {
      ...withTexts<Schemas['StoryEvent']>()('event_uuid', 'type', 'subType', 'created_at'),
      lists: {
        endpoints: withTexts<Schemas['StoryEvent']['endpoints'][number]>()('outcome', 'explanation'),
      },
    },
    endpoints: withTexts<Schemas['Story']['endpoints'][number]>()('endpoint_uuid'),
  },
};
export const LOOK_UP: Shape = {
  lists: { found: withTexts<Schemas['LookUp']['found'][number]>()('kind', 'summary', 'path') },
};
export const METRICS: Shape = {
  ...withTexts<Schemas['Metrics']>()('from', 'to'),
  lists: { data: { lists: { points: withTexts<Schemas['MetricPoint']>()('at') } } },
};

/** A page of a list. */
export const pageOf = (items: Shape): Shape => ({ lists: { data: items } });

/** Throws a failure unless a response has a shape: another server may answer 200 with anything. */
export function mustHave(value: unknown, shape: Shape, at = ''): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw notTheApi(at || 'it', 'an object');
  const object = value as Record<string, unknown>;
  for (const name of shape.texts ?? [])
    if (typeof object[name] !== 'string') throw notTheApi(`${at}${name}`, 'a text');
  for (const [name, items] of Object.entries(shape.lists ?? {})) {
    const list = object[name];
    if (!Array.isArray(list)) throw notTheApi(`${at}${name}`, 'a list');
    for (const [index, item] of list.entries()) mustHave(item, items, `${at}${name}[${index}].`);
  }
}

/** Returns the failure for a response that is not hookrail's. */
export function notTheApi(where: string, what: string): CommandFailure {
  return new CommandFailure(EXIT.api, `the response is not that of hookrail's API: ${where} is not ${what}`, [
    'check which address is used with: hookrail sim whoami',
  ]);
}
