/**
 * Control characters (C0, DEL, C1), line separators, marks that change the direction of text, and characters that have no
 * width or are not there at all: they hide, forge or reorder what a person reads.
 */
const HIDDEN = String.raw`[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]`;
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');

/**
 * Escapes characters that a terminal would obey or not show, as `\u001b` and the like, as JSON does. For foreign text that
 * is shown to a person.
 */
export function visible(text: string): string {
  return text.replace(EACH_HIDDEN, escaped);
}

/** Like `visible`, for text of several lines: line feeds stay. JSON keeps its value. */
export function visibleLines(text: string): string {
  return text.replace(EACH_HIDDEN, (found) => (found === '\n' ? found : escaped(found)));
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
