/** Returns a text without the characters `character` at its end: `=` of base64, `/` of a URL. In linear time. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** Returns a text with everything between two brackets, and the brackets, replaced. One that is not closed stays. */
export function withoutBracketed(text: string, open: string, close: string, replacement: string): string {
  let result = '';
  let from = 0;
  while (true) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start);
    if (end < 0) return result + text.slice(from);
    result += text.slice(from, start) + replacement;
    from = end + close.length;
  }
}
