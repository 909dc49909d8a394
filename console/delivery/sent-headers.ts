/** Headers that a program sets by itself, or that have the secret in them. */
const LEFT_OUT = new Set(['authorization', 'host', 'content-length', 'connection']);

/** Returns the headers of a request that another program may send, and a person may pass on. */
export function sentHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name.toLowerCase())));
}
