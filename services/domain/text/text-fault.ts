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
