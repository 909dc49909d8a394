/** The names that the merchant API has for the fields of the operator's commands: the screens of both consoles know these. */

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Text;
type ApiName<Name extends string> = Name extends 'subType'
  ? Name
  : Name extends `${infer Thing}Id`
    ? `${Snake<Thing>}_uuid`
    : Snake<Name>;
type AsApi<Value> = Value extends readonly (infer Item)[]
  ? readonly AsApi<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value & string as ApiName<Name>]: AsApi<Value[Name]> }
    : Value;

function apiName(name: string): string {
  if (name === 'subType') return name;
  return name.replace(/Id$/, '_uuid').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns what a command has answered with the names of the merchant API: `eventId` is `event_uuid` there. */
export function asApi<Value>(value: Value): AsApi<Value> {
  const named = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(named);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, each]) => [apiName(name), named(each)]));
  };
  return named(value) as AsApi<Value>;
}
