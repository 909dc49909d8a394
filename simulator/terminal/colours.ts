import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import { visibleLines } from '../../services/domain/text/visible-text.ts';

export type Style = Parameters<typeof styleText>[0];

/**
 * Colours of our own have a mark that nobody else can know. Everything that a terminal would obey and that has no mark is
 * foreign, and is escaped where text is written: no call can be forgotten.
 */
const MARK = randomBytes(8).toString('hex');
const ESCAPE = '\u001b';
const OWN = new RegExp(`${ESCAPE}${MARK}(\\[[\\d;]*m)`, 'g');
const PLAIN = new RegExp(`${ESCAPE}\\[[\\d;]*m`, 'g');

/** Returns a text in a colour, which `forTerminal` lets pass. Colours inside it stay. */
export function painted(style: Style, text: string): string {
  const plain = styleText(style, forTerminal(text, true), { validateStream: false });
  return plain.replace(PLAIN, (colour) => `${ESCAPE}${MARK}${colour.slice(1)}`);
}

/** Returns a text as it is written: with our own colours or without, and everything else that a terminal obeys escaped. */
export function forTerminal(text: string, hasColours: boolean): string {
  return text
    .split(OWN)
    .map((part, i) => (i % 2 === 0 ? visibleLines(part) : hasColours ? `${ESCAPE}${part}` : ''))
    .join('');
}
