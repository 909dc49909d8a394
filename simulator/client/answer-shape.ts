import { CommandFailure, EXIT } from '../exit.ts';

/** The properties that the commands rely on, by their kind; `list` is an array of objects with these properties. */
export interface Shape {
  readonly texts?: readonly string[];
  readonly lists?: Readonly<Record<string, Shape>>;
}

export const ENDPOINT: Shape = {
  texts: ['uuid', 'url', 'description', 'status', 'secret_hint', 'created_at'],
};
export const DELIVERY: Shape = {
  texts: ['delivery_uuid', 'event_uuid', 'endpoint_uuid', 'type', 'subType', 'status', 'created_at'],
};
export const DELIVERY_DETAIL: Shape = { ...DELIVERY, lists: { attempts: { texts: ['started_at'] } } };
export const EVENT: Shape = { texts: ['event_uuid', 'type', 'subType'] };
export const REPLAY: Shape = { texts: ['uuid', 'status'] };

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
