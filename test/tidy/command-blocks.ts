import ts from 'typescript';
import { type CommandBlock, commandBlocks } from '../support/pages/command-blocks.ts';
import { at, type Module, type Problem, type ProjectFile, walk } from './project.ts';

/** The function by which a suite takes a block from its page. */
const TAKES = 'commandsOf';
const MARK = /^not typed: (.*)$/s;
const REASON_WORDS_MIN = 3;

const nameOf = ({ page, heading, nth }: Pick<CommandBlock, 'page' | 'heading' | 'nth'>) =>
  `${page}, "${heading}"${nth === 1 ? '' : `, block ${nth}`}`;

/**
 * A rule over the whole project: each command block of a page is typed by a suite, which takes the text from the page,
 * or says in a comment above it why none can.
 */
export function blockProblems(pages: readonly ProjectFile[], modules: readonly Module[]): Problem[] {
  const blocks = pages
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) => commandBlocks(path, text));
  const taken = new Map<string, string>();
  const problems = modules
    .filter(({ path }) => path.endsWith('.test.ts') && path !== 'test/tidy/command-blocks.test.ts')
    .flatMap((module) => takenIn(module, taken));
  const known = new Set(blocks.map(nameOf));
  return [
    ...problems,
    ...blocks.flatMap((block) => blockProblem(block, taken)),
    ...[...taken].flatMap(([name, where]) =>
      known.has(name) ? [] : [`${where}: ${name} has no command block. Name the block that is typed.`],
    ),
    ...pages.flatMap(strayProblems(blocks)),
  ];
}

function takenIn(module: Module, taken: Map<string, string>): Problem[] {
  const problems: Problem[] = [];
  walk(module.tree, (node) => {
    if (!ts.isCallExpression(node) || node.expression.getText(module.tree) !== TAKES) return;
    const [page, heading, nth] = node.arguments;
    const isLiteral =
      page &&
      heading &&
      ts.isStringLiteralLike(page) &&
      ts.isStringLiteralLike(heading) &&
      (nth === undefined || ts.isNumericLiteral(nth));
    if (isLiteral) {
      const block = {
        page: page.text,
        heading: heading.text,
        nth: nth ? Number(nth.getText(module.tree)) : 1,
      };
      taken.set(nameOf(block), at(module, node));
    } else
      problems.push(
        `${at(module, node)}: name the page and the heading as literals, so that this can be read.`,
      );
  });
  return problems;
}

function blockProblem(block: CommandBlock, taken: ReadonlyMap<string, string>): Problem[] {
  const name = nameOf(block);
  const by = taken.get(name);
  const [, reason] = MARK.exec(block.comment ?? '') ?? [];
  if (reason === undefined)
    return by === undefined
      ? [
          `${name}: no suite types this block. Type it (commandsOf in test/support/pages/command-blocks.ts), or write ` +
            '`<!-- not typed: reason -->` directly above it.',
        ]
      : [];
  if (by !== undefined) return [`${name}: ${by} types it, so it is not to be marked as not typed.`];
  return reason.trim().split(/\s+/).length < REASON_WORDS_MIN
    ? [`${name}: "${reason}" is no reason. Say what a suite would need.`]
    : [];
}

/** A mark that has lost its block would excuse nothing, and be read by nobody. */
function strayProblems(blocks: readonly CommandBlock[]) {
  return ({ path, text }: ProjectFile): Problem[] => {
    if (!path.endsWith('.md')) return [];
    const marks = [...text.matchAll(/<!--\s*not typed/g)].length;
    const used = blocks.filter(
      ({ page, comment }) => page === path && comment?.startsWith('not typed'),
    ).length;
    return marks === used ? [] : [`${path}: a comment "not typed" is not directly above a command block.`];
  };
}
