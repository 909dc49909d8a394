/** Amounts are plain decimal strings everywhere but in bodies: doubles would round money. */

const PLAIN_DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?$/;

/**
 * Returns a value's canonical form: "0.30" → "0.3", "007" → "7", "-0.0" → "0". Returns undefined when the text is not
 * a plain decimal (it has an exponent, a bare point, or a plus sign). The result is also a valid JSON number.
 */
export function canonicalDecimal(text: string): string | undefined {
  if (!PLAIN_DECIMAL.test(text)) return undefined;
  const negative = text.charCodeAt(0) === 45;
  let start = negative ? 1 : 0;
  let end = text.length;
  let point = text.indexOf('.', start);
  if (point === -1) point = end;
  // Drops leading zeros except the one before the point, trailing zeros, and the point when no fraction is left.
  while (start < point - 1 && text.charCodeAt(start) === 48) start += 1;
  if (point < end) {
    while (text.charCodeAt(end - 1) === 48) end -= 1;
    if (end === point + 1) end = point;
  }
  if (!negative) return start === 0 && end === text.length ? text : text.slice(start, end);
  const digits = text.slice(start, end);
  return digits === '0' ? '0' : `-${digits}`;
}
