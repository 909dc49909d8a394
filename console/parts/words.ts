/** Returns a word of the API as a person writes it. */
export function inWords(word: string): string {
  return word.replaceAll('_', ' ');
}
