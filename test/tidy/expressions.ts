import { checkSync } from 'recheck';
import ts from 'typescript';
import { at, type Module, type Problem, walk } from './project.ts';

/** Where foreign text is read. */
const FOLDERS = /^(?:client|console|services|simulator|bin)\//;
/** By an automaton: its verdict is the same every time, unlike that of a search for an attack by chance. */
const CHECK = { checker: 'automaton', timeout: 60_000 } as const;

/**
 * Finds regular expressions that are made at run time of anything but constants of the module: a secret, a name or a
 * response within an expression would decide how long it takes.
 */
export function madeExpressionProblems(module: Module): Problem[] {
  const problems: Problem[] = [];
  if (!FOLDERS.test(module.path)) return problems;
  walk(module.tree, (node) => {
    if (!(ts.isNewExpression(node) || ts.isCallExpression(node)) || !ts.isIdentifier(node.expression)) return;
    if (node.expression.text !== 'RegExp' || (node.arguments ?? []).every(isConstant)) return;
    problems.push(
      `${at(module, node)}: makes a regular expression of text that is not constant. Search with indexOf, split the ` +
        'text or compare names: an expression takes as long as whoever writes the text wants.',
    );
  });
  return problems;
}

function isConstant(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return true;
  if (ts.isIdentifier(node)) return /^[A-Z][A-Z0-9_]*$/.test(node.text);
  if (ts.isBinaryExpression(node)) return isConstant(node.left) && isConstant(node.right);
  if (ts.isTaggedTemplateExpression(node)) return isConstant(node.template);
  return (
    ts.isTemplateExpression(node) && node.templateSpans.every(({ expression }) => isConstant(expression))
  );
}

/** Finds regular expressions that take more than linear time for some text (https://makenowjust-labs.github.io/recheck). */
export function slowExpressionProblems(module: Module): Problem[] {
  const problems: Problem[] = [];
  if (!FOLDERS.test(module.path)) return problems;
  walk(module.tree, (node) => {
    if (!ts.isRegularExpressionLiteral(node)) return;
    const end = node.text.lastIndexOf('/');
    const result = checkSync(node.text.slice(1, end), node.text.slice(end + 1), CHECK);
    if (result.status === 'safe') return;
    if (result.status === 'unknown') {
      problems.push(`${at(module, node)}: ${node.text} cannot be checked: write it without looking around`);
      return;
    }
    problems.push(
      `${at(module, node)}: ${node.text} takes more than linear time, for example for ` +
        `${result.attack.pattern.slice(0, 120)}. Make its repetitions bounded or distinct, or split the text.`,
    );
  });
  return problems;
}
