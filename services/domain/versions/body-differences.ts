/** A field of two bodies of one event, each in its own version. */
export interface ComparedField {
  /** Such as `data.senderDetails.senderName`, or `data.docs_missing[0].docType`. */
  readonly path: string;
  /** Its value as it stands in the JSON, digit by digit; undefined where the body does not have the field. */
  readonly older: string | undefined;
  readonly newer: string | undefined;
}

/**
 * Compares two bodies of one event, field by field: those of the newer body in its order, then those that only the
 * older one has.
 */
export function compareBodies(older: string, newer: string): readonly ComparedField[] {
  const before = fieldsOf(older);
  const after = fieldsOf(newer);
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths].map((path) => ({ path, older: before.get(path), newer: after.get(path) }));
}

/** Returns whether the two versions say something different with a field. */
export function isDifferent({ older, newer }: ComparedField): boolean {
  return older !== newer;
}

/** A number as it stands in the JSON: an amount may have more digits than a number of JavaScript holds. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the values of a body by their paths; an empty object or list is a value, too. */
function fieldsOf(body: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const keepDigits = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new Digits(context?.source ?? String(value)) : value;
  collect('', JSON.parse(body, keepDigits), found);
  return found;
}

function collect(path: string, value: unknown, found: Map<string, string>): void {
  if (value instanceof Digits) {
    found.set(path, value.text);
    return;
  }
  const parts = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (parts.length === 0) {
    found.set(path, JSON.stringify(value));
    return;
  }
  for (const [name, part] of parts) {
    const step = Array.isArray(value) ? `[${name}]` : `${path === '' ? '' : '.'}${name}`;
    collect(path + step, part, found);
  }
}
