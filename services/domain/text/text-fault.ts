/** Characters that may be at fault. Checked first: most texts have none. */
const SUSPECT = /[\0\ud800-\udfff]/;
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

/**
 * Returns why a text cannot be kept and passed on unchanged, or undefined. PostgreSQL has no U+0000 in a text, and an
 * unpaired surrogate has no UTF-8. The rule is the same with every store (docs/decisions.md, "Event data").
 */
export function textFault(text: string): string | undefined {
  if (!SUSPECT.test(text)) return undefined;
  if (text.includes('\0')) return 'must not have the character U+0000 (NUL)';
  return UNPAIRED_SURROGATE.test(text)
    ? 'must be well-formed Unicode: it has an unpaired surrogate'
    : undefined;
}

export interface TextFault {
  /** RFC 6901. */
  readonly pointer: string;
  readonly detail: string;
}

/** The most characters of a name in a pointer. */
const NAME_SHOWN_MAX = 60;

/** Returns the faults of all texts in a JSON value, its names included. */
export function textFaultsIn(value: unknown, pointer = ''): TextFault[] {
  if (typeof value === 'string') return faultOf(value, pointer);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = `${pointer}/${pointerPart(name)}`;
    return [...faultOf(name, at), ...textFaultsIn(inner, at)];
  });
}

function faultOf(text: string, pointer: string): TextFault[] {
  const detail = textFault(text);
  return detail === undefined ? [] : [{ pointer, detail }];
}

/** Escapes a name for a JSON pointer; what cannot be written is replaced. */
export function pointerPart(name: string): string {
  const shown = name
    .slice(0, NAME_SHOWN_MAX)
    .replaceAll('\0', '\\u0000')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd');
  return shown.replaceAll('~', '~0').replaceAll('/', '~1');
}
