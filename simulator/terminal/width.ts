import { forTerminal } from './colours.ts';
import type { Sink } from './sink.ts';

/** The width of a terminal that does not tell its own. */
const WIDTH_DEFAULT = 80;

/** A help is as wide as the terminal; lines longer than this are hard to read. */
export const HELP_WIDTH = { most: 100, piped: WIDTH_DEFAULT };

/**
 * Returns the width that text for a sink may have: a terminal's own, at most `most`. What is not a terminal breaks no
 * line, so it has no limit unless `piped` gives one.
 */
export function widthOf(
  sink: Sink,
  { most = Number.POSITIVE_INFINITY, piped = Number.POSITIVE_INFINITY } = {},
): number {
  const own = sink.isTTY === true ? sink.columns || WIDTH_DEFAULT : piped;
  return Math.min(own, most);
}

/** Returns the number of characters that a terminal shows of a text. */
export function shownLength(text: string): number {
  return forTerminal(text, false).length;
}

/**
 * Breaks each line that is too long between words; what follows is indented as the line is, and by `indent` more. A
 * word that is longer than a line stays whole, so that it can be copied.
 */
export function fold(text: string, width: number, indent = 2, ending = ''): string {
  return text
    .split('\n')
    .map((line) => foldLine(line, width, indent, ending))
    .join('\n');
}

function foldLine(line: string, width: number, indent: number, ending: string): string {
  if (shownLength(line) <= width) return line;
  const margin = ' '.repeat(line.search(/\S|$/));
  const lines: string[] = [];
  let current = margin;
  for (const [gap, word] of wordsOf(line.slice(margin.length))) {
    const isFirst = current.trim() === '';
    const next = isFirst ? current + word : current + gap + word;
    if (isFirst || shownLength(next) <= width - ending.length) current = next;
    else {
      lines.push(current + ending);
      current = margin + ' '.repeat(indent) + word;
    }
  }
  return [...lines, current].join('\n');
}

/** Puts the cells of a row on one line or, where they do not fit, on several; those after the first are indented. */
export function foldRow(cells: readonly string[], width: number, indent = 4): string {
  const lines: string[] = [];
  for (const cell of cells) {
    const last = lines.at(-1);
    const joined = `${last}  ${cell}`;
    if (last === undefined) lines.push(cell);
    else if (shownLength(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(`${' '.repeat(indent)}${cell}`);
  }
  return lines.map((line) => fold(line.trimEnd(), width)).join('\n');
}

/** Splits a line into words, each with the spaces before it. */
function wordsOf(line: string): readonly (readonly [gap: string, word: string])[] {
  const words: [string, string][] = [];
  let gap = '';
  for (const [index, word] of line.split(' ').entries()) {
    if (index > 0) gap += ' ';
    if (word === '') continue;
    words.push([gap, word]);
    gap = '';
  }
  return words;
}

/** Folds text that may name a command: one that is too long for a line is continued as a shell reads it. */
export function foldProse(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => foldCommand(line, width))
    .join('\n');
}

function foldCommand(line: string, width: number): string {
  const at = commandAt(line);
  if (at === -1 || shownLength(line) <= width) return foldLine(line, width, 2, '');
  const before = line.slice(0, at);
  if (/^\s*(→ )?$/.test(before)) return foldLine(line, width, 4, ' \\');
  return `${foldLine(before.trimEnd(), width, 2, '')}\n${foldLine(`    ${line.slice(at)}`, width, 4, ' \\')}`;
}

/** A command of ours in a text. */
const COMMAND = /\b(?:npm (?:run|start)|(?:npx --no )?hookrail (?:start|serve|sim|operator))\b/;

/** Returns where a command begins in a line, with the variables that are set for it, or -1. */
function commandAt(line: string): number {
  let at = line.search(COMMAND);
  while (at > 0 && line[at - 1] === ' ') {
    const word = line.lastIndexOf(' ', at - 2) + 1;
    if (!/^[A-Z_]+=\S+$/.test(line.slice(word, at - 1))) break;
    at = word;
  }
  return at;
}
