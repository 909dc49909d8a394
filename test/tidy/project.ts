import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';

/** One file of the project, as the rules see it: a path from the root with forward slashes, and its text. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** What breaks a rule: where, and what to do instead. */
export type Problem = string;

/** Made by tools or installed, not written: git ignores these, and so does this test. */
const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'coverage', 'data']);

/** Text that only some rules are about: what is generated, or a list of packages. */
const MORE_TEXT = /\.(html|css|svg|txt|xml|toml|npmrc|gitignore|dockerignore)$/;

/** Pages that are made of others: the rules judge those. */
const GENERATED_PAGES = /^schemas\/reference\/.*\.md$/;

const TEXT = /\.(tsx?|js|mjs|json|md|yaml|yml|avsc|py|go|php|java|sh)$|(^|\/)(run|Dockerfile|LICENSE)$/;

/** Every text file of the checkout, sorted by path. Reads the disk: a file counts before it is committed. */
export function readProject(root: string): ProjectFile[] {
  return readFiles(root, (path) => TEXT.test(path) && !GENERATED_PAGES.test(path));
}

/** The text files that readProject leaves out, such as generated pages. */
export function readRest(root: string): ProjectFile[] {
  return readFiles(root, (path) => MORE_TEXT.test(path) || GENERATED_PAGES.test(path));
}

function readFiles(root: string, isWanted: (path: string) => boolean): ProjectFile[] {
  const files: ProjectFile[] = [];
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // Only the root's `data` is the service's data directory; a folder of that name elsewhere is ours.
      const isOurs = !NOT_OURS.has(entry.name) || (entry.name === 'data' && folder !== root);
      if (entry.isDirectory() && isOurs) visit(path);
      const shown = relative(root, path).split(sep).join('/');
      if (entry.isFile() && isWanted(shown) && entry.name !== 'package-lock.json') {
        files.push({ path: shown, text: readFileSync(path, 'utf8') });
      }
    }
  };
  visit(root);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A parsed TypeScript file. Rules look at the syntax tree, so comments and strings never count as code. */
export interface Module extends ProjectFile {
  readonly tree: ts.SourceFile;
}

export function parseModule(file: ProjectFile): Module {
  const kind = file.path.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true, kind);
  return { ...file, tree };
}

export function isTypeScript(file: ProjectFile): boolean {
  return /\.tsx?$/.test(file.path);
}

/** Calls back for every node of the tree, parents first. */
export function walk(tree: ts.Node, visit: (node: ts.Node) => void): void {
  const step = (node: ts.Node) => {
    visit(node);
    ts.forEachChild(node, step);
  };
  step(tree);
}

/** `path:line`, as editors and terminals make links of it. */
export function at(module: Module, node: ts.Node): string {
  const { line } = module.tree.getLineAndCharacterOfPosition(node.getStart(module.tree));
  return `${module.path}:${line + 1}`;
}
