/** Returns a reader of texts in an address; what it does not know is left out. The address is what a colleague opens. */
export function textsIn<Name extends string>(...names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): { readonly [K in Name]?: string } => {
    const found = names.filter((name) => typeof search[name] === 'string' && search[name] !== '');
    return Object.fromEntries(found.map((name) => [name, search[name]])) as { readonly [K in Name]?: string };
  };
}

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Returns the fields that have a value. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<Fields>;
}
