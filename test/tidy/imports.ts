import { posix } from 'node:path';
import ts from 'typescript';
import { PARTS } from './layout.ts';
import type { Part } from './part.ts';
import { at, type Module, type Problem, walk } from './project.ts';

/** May import everything; nothing else may import them. */
const OUTSIDE = /^(test|scripts|docs)\/|^[^/]+\.ts$/;

/** The part a file belongs to; undefined for what lies outside (tests, scripts, the root's configuration). */
function partOf(path: string): Part | undefined {
  return PARTS.find((part) => part.files.test(path));
}

/** Two engines are the same part by name, and must not import each other all the same. */
function sameFolderOfEngine(from: string, to: string): boolean {
  return from.split('/').slice(0, 3).join('/') === to.split('/').slice(0, 3).join('/');
}

interface Import {
  readonly node: ts.Node;
  readonly target: string;
}

/** Every module a file names: import, export from, import(), and `new URL('./x.ts', import.meta.url)` (workers). */
export function importsOf(module: Module): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined) => {
    if (specifier && ts.isStringLiteralLike(specifier)) found.push({ node, target: specifier.text });
  };
  walk(module.tree, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node, node.moduleSpecifier);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0]);
    }
    if (ts.isNewExpression(node) && node.expression.getText(module.tree) === 'URL') {
      const [first, base] = node.arguments ?? [];
      const isModule = first && ts.isStringLiteralLike(first) && /^\.\.?\/.*\.ts$/.test(first.text);
      if (isModule && base?.getText(module.tree) === 'import.meta.url') add(node, first);
    }
  });
  return found;
}

/** The layout of design: who may import whom. */
export function importProblems(module: Module): Problem[] {
  return importsOf(module).flatMap(({ node, target }) => {
    const problem = target.startsWith('.') ? relativeProblem(module, target) : packageProblem(module, target);
    return problem ? [`${at(module, node)}: ${problem}`] : [];
  });
}

function relativeProblem(module: Module, target: string): string | undefined {
  if (!/\.(tsx?|mjs|json|avsc|md)$/.test(target))
    return `"${target}" has no ending. Write the file's real name, with .ts.`;
  const from = partOf(module.path);
  const toPath = posix.normalize(posix.join(posix.dirname(module.path), target));
  if (from === undefined && OUTSIDE.test(module.path)) return undefined;
  if (from === undefined) {
    return `${module.path} belongs to no part of the layout. Put it into a station, an engine or the foundation.`;
  }
  const to = partOf(toPath);
  if (to === undefined)
    return `${from.name} must not import ${toPath}. Nothing imports tests, scripts or unknown parts.`;
  const isOwn = to === from && (!to.name.endsWith(' engine') || sameFolderOfEngine(module.path, toPath));
  if (isOwn || (to !== from && from.parts.includes(to.name))) return undefined;
  return `${from.name} must not import ${toPath} (${to.name}). ${from.instead}`;
}

function packageProblem(module: Module, target: string): string | undefined {
  if (target === 'ip') return 'the package "ip" judges some private addresses as public. Use net.BlockList.';
  const from = partOf(module.path);
  if (from?.packages === undefined) return undefined;
  const isAllowed = from.packages.some((name) => target === name || target.startsWith(`${name}/`));
  if (isAllowed) return undefined;
  const allowed = from.packages.length > 0 ? `only ${from.packages.join(', ')}` : 'no package';
  return `${from.name} must not import "${target}"; it may import ${allowed}. ${from.instead}`;
}
