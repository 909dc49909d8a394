import { TextLayout, WIDTH } from '../../services/messages/text-layout.ts';
import { forTerminal } from './colours.ts';
import type { Sink } from './sink.ts';

/** A help is as wide as the terminal; lines longer than this are hard to read. */
export const HELP_WIDTH = { most: 100, piped: WIDTH };

/**
 * Returns the width that text for a sink may have: a terminal's own, at most `most`. What is not a terminal breaks no
 * line, so it has no limit unless `piped` gives one.
 */
export function widthOf(
  sink: Sink,
  { most = Number.POSITIVE_INFINITY, piped = Number.POSITIVE_INFINITY } = {},
): number {
  const own = sink.isTTY === true ? sink.columns || WIDTH : piped;
  return Math.min(own, most);
}

/** Returns the number of characters that a terminal shows of a text. */
export function shownLength(text: string): number {
  return forTerminal(text, false).length;
}

/** Lays out text that may have colours. */
export const layout = new TextLayout(shownLength);

/** Folds text that may name a command: one that is too long for a line is continued as a shell reads it. */
export function foldProse(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => foldCommand(line, width))
    .join('\n');
}

function foldCommand(line: string, width: number): string {
  const at = commandAt(line);
  if (at === -1 || shownLength(line) <= width) return layout.fold(line, width);
  const before = line.slice(0, at);
  if (/^\s*(→ )?$/.test(before)) return layout.fold(line, width, 4, ' \\');
  return `${layout.fold(before.trimEnd(), width)}\n${layout.fold(`    ${line.slice(at)}`, width, 4, ' \\')}`;
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
