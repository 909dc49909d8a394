/** Fewer different characters than this can be tried out. */
const DIFFERENT_MIN = 5;
/** Estimated bits; 16 random digits, the weakest that anybody draws by chance, have 53. */
const BITS_MIN = 32;
/** A shorter repetition occurs in random text by chance. */
const REPEATED_MIN = 4;
/** The keys of a keyboard beside one another: what fingers type when nobody chooses. */
const KEYBOARD = '1234567890 qwertyuiop asdfghjkl zxcvbnm';

/**
 * Returns whether a secret can be guessed by its pattern: one character again and again, a repeated word, a sequence
 * such as abcd, 9876 or qwerty, or steps that repeat (aabbcc, a1b2c3). It estimates; it knows no list of passwords.
 */
export function isGuessable(secret: string): boolean {
  const codes = [...secret.toLowerCase()].map((character) => character.charCodeAt(0));
  const keys = [...secret.toLowerCase()].map((character, i) => {
    const place = KEYBOARD.indexOf(character);
    // The steps between characters that have no place are all different: they are no sequence.
    return place === -1 ? KEYBOARD.length * (i + 1) ** 2 : place;
  });
  if (new Set(secret).size < DIFFERENT_MIN) return true;
  return [codes, stepsOf(codes), stepsOf(keys)].some((values) => bits(values) < BITS_MIN);
}

/** Like `isGuessable`, for bytes that base64 hides. */
export function areGuessableBytes(bytes: Uint8Array): boolean {
  const values = [...bytes];
  return new Set(values).size < DIFFERENT_MIN || bits(values) < BITS_MIN || bits(stepsOf(values)) < BITS_MIN;
}

function stepsOf(values: readonly number[]): number[] {
  return values.slice(1).map((value, i) => value - (values[i] ?? 0));
}

/**
 * Estimates the bits of a text as a compressor would: a new value costs the choice among the values that occur, and a
 * repetition of what stood before costs where it stood and how long it is.
 */
function bits(values: readonly number[]): number {
  const each = Math.log2(Math.max(2, new Set(values).size));
  let sum = 0;
  let at = 0;
  while (at < values.length) {
    const length = longestRepetition(values, at);
    if (length < REPEATED_MIN) {
      sum += each;
      at += 1;
      continue;
    }
    sum += Math.min(length * each, Math.log2(at) + Math.log2(length));
    at += length;
  }
  return sum;
}

/** Returns the length of the longest part from `at` on that stood before, perhaps overlapping. */
function longestRepetition(values: readonly number[], at: number): number {
  let longest = 0;
  for (let from = 0; from < at; from += 1) {
    let length = 0;
    while (at + length < values.length && values[from + length] === values[at + length]) length += 1;
    longest = Math.max(longest, length);
  }
  return longest;
}
