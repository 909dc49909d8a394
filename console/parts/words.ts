import { visible } from '../../services/domain/text/visible-text.ts';

const SHOWN = 8;

/** Returns a word of the API as a person writes it. */
export function inWords(word: string): string {
  return word.replaceAll('_', ' ');
}

/** Returns the beginning of an id, as much as tells a few apart. Ids of banks are any text. */
export function shortId(id: string): string {
  return visible(id.slice(0, SHOWN));
}

/** Returns a count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
