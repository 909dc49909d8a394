/** The most characters of the name of a person who asks for a change. */
export const PERSON_CHARACTERS_MAX = 100;

/** Returns the name of a person as the audit has it; undefined when it is not fit to be shown in a line. */
export function personNamed(text: string): string | undefined {
  const name = text.trim().normalize('NFC');
  const isFit = name !== '' && name.length <= PERSON_CHARACTERS_MAX && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name);
  return isFit ? name : undefined;
}

/** Returns the name that a header has, percent-encoded; undefined when it is no such text, or not fit. */
export function personInHeader(header: string): string | undefined {
  try {
    return personNamed(decodeURIComponent(header));
  } catch {
    return undefined;
  }
}
