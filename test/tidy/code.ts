import ts from 'typescript';
import { at, type Module, type Problem, type ProjectFile, walk } from './project.ts';

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;

/** What a script has made is read by compilers. */
const GENERATED = /(^|\/)generated\//;

export function fileLengthProblems(file: ProjectFile): Problem[] {
  if (GENERATED.test(file.path)) return [];
  const lines = file.text.split('\n').length - (file.text.endsWith('\n') ? 1 : 0);
  if (lines <= FILE_LINES_MAX) return [];
  return [
    `${file.path}: ${lines} lines, at most ${FILE_LINES_MAX}. Keep loop, path and pure part apart: move one of them ` +
      'into a file of its own, named after what it does.',
  ];
}

export function functionLengthProblems(module: Module): Problem[] {
  const problems: Problem[] = [];
  walk(module.tree, (node) => {
    if (!isFunction(node) || !node.body || (isTest(module) && isSuite(node.body, module))) return;
    const first = module.tree.getLineAndCharacterOfPosition(node.getStart(module.tree)).line;
    const last = module.tree.getLineAndCharacterOfPosition(node.getEnd()).line;
    const lines = last - first + 1;
    if (lines <= FUNCTION_LINES_MAX) return;
    problems.push(
      `${at(module, node)}: a function of ${lines} lines, at most ${FUNCTION_LINES_MAX}. Keep branches and state in ` +
        'it, and move the pure steps into functions with names.',
    );
  });
  return problems;
}

type FunctionNode = ts.FunctionLikeDeclaration & { body?: ts.Node };

function isFunction(node: ts.Node): node is FunctionNode {
  return ts.isFunctionLike(node) && 'body' in node;
}

function isTest(module: Module): boolean {
  return module.path.startsWith('test/');
}

/** A suite only holds tests, which are measured one by one. */
function isSuite(body: ts.Node, module: Module): boolean {
  let holdsTests = false;
  ts.forEachChild(body, (child) => {
    if (!ts.isExpressionStatement(child) || !ts.isCallExpression(child.expression)) return;
    if (/^(test|it|describe)\b/.test(child.expression.expression.getText(module.tree))) holdsTests = true;
  });
  return holdsTests;
}

/** Syntax that is not erased by stripping types: Node could not run the sources as they are. */
export function erasableProblems(module: Module): Problem[] {
  const problems: Problem[] = [];
  const say = (node: ts.Node, what: string) => problems.push(`${at(module, node)}: ${what}`);
  walk(module.tree, (node) => {
    if (ts.isEnumDeclaration(node))
      say(node, 'an enum. Write an `as const` array and derive the type from it.');
    if (ts.isModuleDeclaration(node) && !isDeclared(node)) {
      say(node, 'a namespace. A file is a module: export from it.');
    }
    if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) {
      say(node, 'a parameter property. Declare the field and assign it in the constructor.');
    }
  });
  return problems;
}

/** What is only declared (`declare global`, and all inside it) is types, and erased. */
function isDeclared(node: ts.Node): boolean {
  if (ts.isSourceFile(node)) return false;
  const isDeclare = ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === DECLARE);
  return isDeclare || isDeclared(node.parent);
}

const DECLARE = ts.SyntaxKind.DeclareKeyword;

interface Banned {
  readonly word: RegExp;
  readonly instead: string;
}

const CLOCK = 'Time is injected: take a Clock (services/process/clock.ts) in the deps.';
const TIMER = 'Time is injected: use clock.sleep or clock.at (services/process/clock.ts).';
const CHANCE = 'Chance is injected: take a Random (services/process/random.ts) in the deps.';

/** What reads a clock, rolls dice or looks at the process, as it is written in code. */
const AMBIENT: readonly Banned[] = [
  { word: /^(Date\.now|(\w+\.)?performance\.(now|timeOrigin)|process\.hrtime)$/, instead: CLOCK },
  { word: /^Math\.random$/, instead: CHANCE },
  { word: /^(globalThis\.)?(setTimeout|setInterval)$/, instead: TIMER },
];

/** Only the entry points read the environment, once, and pass it to services/config/config.ts. */
const MAY_READ_ENVIRONMENT = new Set(['services/main.ts', 'services/operator.ts']);

const FOUNDATION = /^services\/(process|config|keys|egress|telemetry)\//;

/** Time, chance and environment come from the foundation; everything else in services has them passed in. */
export function ambientProblems(module: Module): Problem[] {
  if (!module.path.startsWith('services/') || FOUNDATION.test(module.path)) return [];
  const problems: Problem[] = [];
  const say = (node: ts.Node, instead: string) =>
    problems.push(`${at(module, node)}: ${node.getText(module.tree).slice(0, 60)}. ${instead}`);
  let environmentReads = 0;
  walk(module.tree, (node) => {
    const name = accessed(node, module);
    const banned = name && AMBIENT.find(({ word }) => word.test(name));
    if (banned) say(node, banned.instead);
    if (name === 'process.env') {
      environmentReads += 1;
      const isAllowed = MAY_READ_ENVIRONMENT.has(module.path) && environmentReads === 1;
      if (!isAllowed)
        say(node, 'The environment is read once, in the entry point: take the value from the config.');
    }
    if (
      ts.isNewExpression(node) &&
      node.expression.getText(module.tree) === 'Date' &&
      !node.arguments?.length
    ) {
      say(node, CLOCK);
    }
    if (takesMethodsOfClock(node, module))
      say(node, 'Call the clock’s methods on the clock: it may be an object of a class.');
    if (ts.isImportDeclaration(node) && /^['"]node:timers/.test(node.moduleSpecifier.getText(module.tree))) {
      say(node, TIMER);
    }
  });
  return problems;
}

/** `const { now } = clock`: a method that has lost its object. */
function takesMethodsOfClock(node: ts.Node, module: Module): boolean {
  if (!ts.isVariableDeclaration(node) || !ts.isObjectBindingPattern(node.name) || !node.initializer)
    return false;
  return /(^|[.#])clock$/i.test(node.initializer.getText(module.tree));
}

/** The dotted name that a node uses as a value: `Date.now`, or `setTimeout` where it stands alone. */
function accessed(node: ts.Node, module: Module): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.getText(module.tree).replace(/[\s?]/g, '');
  if (!ts.isIdentifier(node)) return undefined;
  const { parent } = node;
  // `x.setTimeout`, `{ setTimeout: … }` and declarations name something else; imports have a rule of their own.
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return undefined;
  if (ts.isImportSpecifier(parent)) return undefined;
  if (
    (ts.isPropertyAssignment(parent) || ts.isTypeElement(parent) || ts.isClassElement(parent)) &&
    parent.name === node
  ) {
    return undefined;
  }
  return node.text;
}

/** fetch follows redirects (the Authorization header would leak) and inflates bodies; undici.request does neither. */
export function fetchProblems(module: Module): Problem[] {
  if (!module.path.startsWith('services/')) return [];
  const problems: Problem[] = [];
  walk(module.tree, (node) => {
    const isCall =
      ts.isCallExpression(node) &&
      /^((globalThis|undici)\.)?fetch$/.test(node.expression.getText(module.tree));
    const isImport = ts.isImportSpecifier(node) && (node.propertyName ?? node.name).text === 'fetch';
    if (!isCall && !isImport) return;
    problems.push(`${at(module, node)}: fetch follows redirects and inflates bodies. Use undici.request.`);
  });
  return problems;
}
