/** The command blocks of the repository's pages: what a reader types. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Marked, type Token, type Tokens } from 'marked';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface CommandBlock {
  /** The path of the page from the root. */
  readonly page: string;
  /** The text of the heading above it. */
  readonly heading: string;
  /** Its number among the command blocks below that heading, from 1. */
  readonly nth: number;
  readonly language: string;
  readonly text: string;
  /** The comment directly above it, null without one. */
  readonly comment: string | null;
}

/** Typed into psql. */
const STATEMENTS = ['sql', 'psql'];
const LANGUAGES = new Set([
  ...'sh bash zsh fish shell shell-session shellsession sh-session console terminal'.split(' '),
  ...'powershell pwsh ps1 ps cmd bat batch'.split(' '),
  ...STATEMENTS,
]);
const COMMENT = /^<!--([\s\S]*?)-->\s*$/;
/** The first line of a block that is a command, whatever the block says it is. */
const COMMAND =
  /^\s*(?:[$>%#] +\S|(?:[A-Z_]+=\S* +)*(?:sudo|npx|npm|node|curl|wget|docker|kubectl|helm|git|openssl|psql|pg_\w+|kafka-[\w-]+(?:\.sh)?|hookrail|export|source|python3?|pip3?|java|mvn|go|php|cd|mkdir|cp|echo|systemctl|apt(?:-get)?)\s)/;

/** Returns the language that a block says it is in, empty without one. */
function languageOf({ lang }: Tokens.Code): string {
  return (lang ?? '').trim().split(/[\s{]/, 1)[0]?.toLowerCase() ?? '';
}

function isCommand(name: string, text: string): boolean {
  if (LANGUAGES.has(name)) return true;
  return ['', 'text', 'txt', 'plain', 'plaintext'].includes(name) && COMMAND.test(text);
}

/** Returns the command blocks of a page in their order, those in lists and quotations too. */
export function commandBlocks(page: string, markdown: string): CommandBlock[] {
  const blocks: CommandBlock[] = [];
  let heading = '';
  const visit = (tokens: readonly Token[]) => {
    let comment: string | null = null;
    for (const token of tokens) {
      if (token.type === 'heading') heading = token.text;
      if (token.type === 'code') {
        const { text } = token as Tokens.Code;
        const language = languageOf(token as Tokens.Code);
        const nth = 1 + blocks.filter((block) => block.heading === heading).length;
        if (isCommand(language, text)) blocks.push({ page, heading, nth, language, text, comment });
      }
      if (token.type === 'list') for (const item of token.items) visit(item.tokens);
      if (token.type === 'blockquote') visit(token.tokens ?? []);
      // A comment is directly above a block when nothing but its line's end is between them.
      comment = token.type === 'html' ? (COMMENT.exec(token.raw.trim())?.[1]?.trim() ?? null) : null;
    }
  };
  visit(new Marked({ gfm: true }).lexer(markdown));
  return blocks;
}

/**
 * Returns the commands of a block as they are printed, comments at their ends included; lines that are comments only are
 * left out. Of a block in SQL it returns the statements, without comments. A suite that calls this types the block: `test/tidy/command-blocks.ts` reads the call, so its arguments are
 * literals. A block is marked by `<!-- not typed: reason -->` directly above it when no suite can type it.
 */
export function commandsOf(page: string, heading: string, nth = 1): string[] {
  const { language, text } = blockAt(page, heading, nth);
  return STATEMENTS.includes(language) ? statementsIn(text) : commandsIn(text);
}

/** Returns a command without the comment at its end. */
export function bare(command: string): string {
  return command.replace(/ +#.*$/, '');
}

function blockAt(page: string, heading: string, nth: number): CommandBlock {
  const blocks = commandBlocks(page, readFileSync(`${ROOT}${page}`, 'utf8'));
  const block = blocks.find((each) => each.heading === heading && each.nth === nth);
  if (!block) throw new Error(`${page} has no command block ${nth} below "${heading}"`);
  return block;
}

/** Splits SQL whose statements each end at the end of a line. */
function statementsIn(text: string): string[] {
  const [last, ...statements] = text
    .replaceAll(/ *--.*$/gm, '')
    .split(/;$/m)
    .map((each) => each.trim())
    .reverse();
  if (last !== '') throw new Error(`a statement without an end: ${last}`);
  return statements.reverse();
}

/** Splits a text into commands where bash would: a line is read on while bash says that the command is not complete. */
export function commandsIn(text: string): string[] {
  const commands: string[] = [];
  let begun = '';
  for (const line of text.split('\n')) {
    begun += begun === '' ? line : `\n${line}`;
    if (/^\s*(#.*)?$/.test(begun)) begun = '';
    else if (isComplete(begun)) {
      commands.push(begun);
      begun = '';
    }
  }
  if (begun !== '') throw new Error(`bash takes this for the beginning of a command only: ${begun}`);
  return commands;
}

function isComplete(command: string): boolean {
  if (/\\$/.test(command)) return false;
  // A placeholder such as <keyId> passes for a redirection.
  const plain = command.replaceAll(/<[\w ]+>/g, 'placeholder');
  const { status, stderr } = spawnSync('bash', ['-n', '-c', plain], { encoding: 'utf8' });
  if (status === 0 && !/here-document/.test(stderr)) return true;
  if (/unexpected EOF|unexpected end of file|here-document/.test(stderr)) return false;
  throw new Error(`bash refuses a command of a page: ${stderr}${command}`);
}
