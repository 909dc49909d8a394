/**
 * Returns where two values differ, as a path such as `attempts.0.signature`; null when they are the same. A field without a
 * value counts as absent, and U+0000 in a text as U+FFFD, in which PostgreSQL keeps it.
 */
export function differenceOf(one: unknown, other: unknown, path = ''): string | null {
  if (isObject(one) && isObject(other)) return inObjects(one, other, path);
  return plain(one) === plain(other) ? null : path;
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

function inObjects(one: Fields, other: Fields, path: string): string | null {
  if (Array.isArray(one) !== Array.isArray(other)) return path;
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = differenceOf(one[name], other[name], path === '' ? name : `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return `"${value.replaceAll('\0', '\ufffd')}`;
  return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('base64')}` : value;
}
