import type { Problem, ProjectFile } from './project.ts';

/**
 * Commands that fetch a package by its name and run it. The name `hookrail` on npm and PyPI is not ours, and a name with
 * no version is whatever its owner publishes next: what a page prints is typed in any folder, by anybody.
 */
interface PackageRule {
  /** The command, and in its group what it is told; each place is looked at. */
  readonly command: RegExp;
  /** Words that make it safe. */
  readonly unless: RegExp;
  readonly instead: string;
}

/** Options before the first word; a value of its own must be joined with "=". */
const OPTIONS = String.raw`(?:-[\w-]+(?:=\S+)?\s+)*`;
/** Up to the end of the command: of the line, or of what a page shows as code. */
const REST = '([^`"\'<|&;#)\\n]*)';
const NPM_PINNED = /^(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/;
const FOLDER = /^(?:\.{0,2}\/|\.{1,2}$|~|<|\$)/;

const RULES: readonly PackageRule[] = [
  {
    command: new RegExp(String.raw`(?<![\w./-])npx\s+(?=[-@<$\w])${REST}`, 'g'),
    unless: /^--no(?:-install)?\s/,
    instead: 'write `npx --no <program>`: it runs what is installed here, and fetches nothing',
  },
  {
    command: new RegExp(String.raw`(?<![\w-])npm\s+${OPTIONS}(?:exec|x)\s${REST}`, 'g'),
    unless: /^--no\s/,
    instead: 'write `npx --no <program>`: it runs what is installed here, and fetches nothing',
  },
  {
    command: new RegExp(
      String.raw`(?<![\w-])(?:npm\s+${OPTIONS}(?:init|create|innit)\s+(?=[@\w])|(?:pnpm|yarn)\s+(?:dlx|create)\s|bunx\s|uvx\s|pipx\s+(?:run|install)\s|(?:cargo|gem|brew)\s+install\s|go\s+(?:run|install|get)\s+(?=\S*@|[\w-]+\.\w+\/)|composer\s+(?:global\s+)?require\s)${REST}`,
      'g',
    ),
    unless: /^(?!)/,
    instead: 'no page says this: it runs what a stranger publishes; put the package into a lock file',
  },
  {
    command: new RegExp(String.raw`(?<![\w-])curl\b[^\n\`]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b${REST}`, 'g'),
    unless: /^(?!)/,
    instead: 'no page runs what a server sends: name a package of the distribution, or a checksum',
  },
];

/** Commands that take names of packages, all of which must be pinned or folders. */
const NAMES: readonly { command: RegExp; pinned: RegExp; instead: string }[] = [
  {
    command: new RegExp(
      String.raw`(?<![\w-])(?:npm\s+${OPTIONS}(?:install|i|add|link|ln)|pnpm\s+add|yarn\s+add)\s+${REST}`,
      'g',
    ),
    pinned: new RegExp(`${FOLDER.source}|(?!hookrail@)${NPM_PINNED.source}`),
    instead: 'give the exact version (`name@1.2.3`), or the folder; `hookrail` on npm is not ours',
  },
  {
    command: new RegExp(String.raw`(?<![\w-])pip3?\s+install\s+${REST}`, 'g'),
    pinned: /^(?!hookrail\b)[\w.-]+(?:\[[\w,.-]+\])?==[\w.]+$|\.txt$|^\.{0,2}\//,
    instead: 'give the exact version (`name==1.2.3`) or `-r <file>`; `hookrail` on PyPI is not ours',
  },
];

/** Images are run by their registry's full name, or are built here. */
const IMAGES =
  /(?<![\w-])(?:docker|podman)\s+(?:run|pull|create)\s+((?:-[^\s`]+(?:\s+(?!-)\S*[=:/]\S*)?\s+)*)([^\s`"'|;]+)/g;
const QUALIFIED = /^(?:[\w-]+\.[\w.-]+(?::\d+)?|localhost(?::\d+)?)\/.+(?::[\w.-]+|@sha256:[\da-f]{64})$|^\$/;

const EXEMPT: ReadonlySet<string> = new Set([
  // A script of continuous integration runs the lock file's programs, after `npm ci`, in the checkout.
  '.ci/run',
  // Words of pages that are looked at themselves, without the marks of code.
  'schemas/reference/search.json',
]);

export function packageProblems({ path, text }: ProjectFile): Problem[] {
  if (EXEMPT.has(path)) return [];
  const lines = (
    path.endsWith('.html')
      ? text.replaceAll(/<\/?code>|<[^>\n]*>/g, (tag) => (tag.endsWith('code>') ? '`' : ''))
      : text
  ).split('\n');
  return lines.flatMap((line, index) => foundIn(line).map((found) => `${path}:${index + 1}: ${found}`));
}

function foundIn(text: string): readonly string[] {
  // A word in quotes is that word.
  const line = text.replaceAll(/(?<=\s)(['"])([^'"\s]+)\1/g, '$2');
  const problems = RULES.flatMap(({ command, unless, instead }) =>
    [...line.matchAll(command)]
      .filter(([, told = '']) => !unless.test(told))
      .map(([found]) => `"${found.trim()}": ${instead}`),
  );
  for (const { command, pinned, instead } of NAMES)
    for (const [found, told = ''] of line.matchAll(command)) {
      const names = told.split(/\s+/).filter((word) => /^[@\w.~/$<]/.test(word));
      // A sentence that names the command alone, such as "`npm install` is not needed".
      if (names.some((name) => !pinned.test(name))) problems.push(`"${found.trim()}": ${instead}`);
    }
  for (const [found, , image = ''] of line.matchAll(IMAGES))
    if (!QUALIFIED.test(image))
      problems.push(
        `"${found}": name the image's registry and version, as in registry.example.com/team/image:1.2.3`,
      );
  return problems;
}
