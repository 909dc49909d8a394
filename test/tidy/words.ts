import ts from 'typescript';
import { at, type Module, type Problem, type ProjectFile } from './project.ts';

interface Word {
  readonly pattern: RegExp;
  /** Which files the word is banned from. */
  readonly where: (path: string) => boolean;
  readonly instead: string;
}

const isTest = (path: string) => path.startsWith('test/');
const isConsole = (path: string) => path.startsWith('console/');
const isProduction = (path: string) => /^(client|console|services|simulator)\//.test(path);

const WORDS: readonly Word[] = [
  {
    pattern: /\b(TODO|FIXME)\b/,
    where: () => true,
    instead: 'Do it now, or open an issue: a note in the code is read by nobody.',
  },
  {
    pattern: /\b(NODE_ENV|VITEST(_\w+)?|__test__|__tests__)\b/,
    where: isProduction,
    instead: 'Production code does not know that it is tested. Pass in what differs.',
  },
  {
    pattern: /\b(dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcDoc)\b/,
    where: isConsole,
    instead: 'Bodies, descriptions and headers are written by strangers: show them as text, in an element.',
  },
  {
    pattern: /(^|[^\w.\-/])\/work\//,
    where: () => true,
    instead: 'This path exists on one machine only. Make it relative, or take it from the configuration.',
  },
  {
    pattern: /(^|[^\w.\-/])\/tmp\//,
    where: (path) => !isTest(path),
    instead: 'Use os.tmpdir(), or the data directory of the configuration.',
  },
];

/** Words that have no place in a file. Looks at the text, comments included. The rules themselves must name them. */
export function wordProblems(file: ProjectFile): Problem[] {
  if (file.path.startsWith('test/tidy/')) return [];
  const words = WORDS.filter(({ where }) => where(file.path));
  return file.text.split('\n').flatMap((line, index) =>
    words.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line);
      return found ? [`${file.path}:${index + 1}: "${found[0].trim()}". ${instead}`] : [];
    }),
  );
}

const TITLE_FAULTS: readonly (readonly [fault: RegExp, says: string])[] = [
  [/^(what|who|whoever|how)\b/i, 'begins with a question word. Begin with the thing under test.'],
  [/^\S+( \S+)?$/, 'has fewer than three words. Say what does what.'],
  [/[:.]$/, 'ends with a colon or full stop. A title is one sentence, without its full stop.'],
  [/\bours\b/, 'says "ours". Name the part of hookrail.'],
];

const TITLED = /^(it|test|describe\w*)(\.(each|concurrent|only|skip|skipIf|runIf)\b|$)/;

/** A title with those of the suites around it is a sentence: a report has the titles only. */
export function titleProblems(module: Module): Problem[] {
  if (!isTest(module.path)) return [];
  const problems: Problem[] = [];
  const visit = (node: ts.Node, suites: readonly string[]) => {
    const own = titleOf(node);
    const titles = own === undefined ? suites : [...suites, own.title];
    if (own && !own.isSuite) {
      const title = titles.join(' ');
      const fault = TITLE_FAULTS.find(([pattern]) => pattern.test(title));
      if (fault) problems.push(`${at(module, node)}: the title "${title}" ${fault[1]}`);
    }
    ts.forEachChild(node, (child) => visit(child, titles));
  };
  visit(module.tree, []);
  return problems;
}

/** The title that a call gives to a test or a suite, as it is written: a placeholder counts as a word. */
function titleOf(node: ts.Node): { readonly title: string; readonly isSuite: boolean } | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  if (!first || !(ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))) return undefined;
  const kind = TITLED.exec(node.expression.getText())?.[1];
  return kind === undefined
    ? undefined
    : { title: first.getText().slice(1, -1), isSuite: kind.startsWith('describe') };
}
