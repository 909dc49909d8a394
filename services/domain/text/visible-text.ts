/** Control characters (C0, DEL, C1), line separators, and marks that change the direction of text. */
const HIDDEN = String.raw`[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]`;
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');
/** A colour, or a hidden character. */
const COLOUR_OR_HIDDEN = new RegExp(String.raw`\u001b\[[\d;]*m|${HIDDEN}`, 'gu');

/**
 * Escapes characters that a terminal would obey, as `\u001b` and the like, as JSON does. For foreign text that is
 * shown to a person.
 */
export function visible(text: string): string {
  return text.replace(EACH_HIDDEN, escaped);
}

/**
 * Like `visible`, for text of several lines that may be coloured: line feeds and colours stay. JSON keeps its value.
 */
export function visibleLines(text: string): string {
  return text.replace(COLOUR_OR_HIDDEN, (found) =>
    found === '\n' || found.length > 1 ? found : escaped(found),
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
