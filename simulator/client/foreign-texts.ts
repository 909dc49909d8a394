import { visible } from '../../services/domain/text/visible-text.ts';

/** Texts that a command needs as they were sent: to show them line by line, to check their signature, to copy them. */
const AS_SENT: ReadonlySet<string> = new Set(['body', 'response_body']);

/**
 * Returns an answer with every text escaped for a terminal, line feeds too: descriptions, URLs, headers and reasons come
 * from merchants and receivers. Bodies stay, and are escaped where they are shown.
 */
export function withVisibleTexts<Value>(value: Value): Value {
  return mapped(value) as Value;
}

function mapped(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== 'object' || value === null) return value;
  // Entries, so that a property "__proto__" stays a property.
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      visible(name),
      AS_SENT.has(name) && typeof one === 'string' ? one : mapped(one),
    ]),
  );
}
