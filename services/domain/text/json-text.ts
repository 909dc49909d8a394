/** Characters that JSON text must escape; lone surrogates too, since they have no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped.
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Returns a string as JSON (RFC 8259 §7). Faster than `JSON.stringify`, which first examines the kind of value. */
export function jsonText(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}
