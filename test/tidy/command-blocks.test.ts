/** The rule that every command block of a page is typed sees the blocks, the suites that type them, and the marks. */
import { describe, expect, test } from 'vitest';
import { commandBlocks, commandsIn } from '../support/pages/command-blocks.ts';
import { blockProblems } from './command-blocks.ts';
import { parseModule } from './project.ts';

const page = (text: string) => ({ path: 'docs/a.md', text: `# A\n\n## Steps\n\n${text}\n` });
const suite = (text: string) => parseModule({ path: 'test/a.test.ts', text });
const BLOCK = '```sh\nls\n```';
const MARK = '<!-- not typed: needs a Kubernetes cluster -->';

describe('a command block', () => {
  test.each([
    ['sh', BLOCK],
    ['bash, in a list', '- so:\n\n  ```bash\n  ls\n  ```'],
    ['console, in a quotation', '> ```console\n> $ ls\n> ```'],
    ['shell with tildes', '~~~shell title="x"\nls\n~~~'],
    ['PowerShell', '```powershell\ndir\n```'],
    ['SQL', '```sql\nSELECT 1;\n```'],
    ['no language, and a prompt', '```\n$ ls\n```'],
    ['no language, and a program', '```\nHOOKRAIL_ROLES=api npx --no hookrail serve\n```'],
    ['text, and a program', '```text\ncurl localhost\n```'],
    ['an indentation', '    npm start\n'],
  ])('in %s must be typed', (_, text) => {
    expect(blockProblems([page(text)], [])).toEqual([
      expect.stringMatching(/^docs\/a\.md, "Steps": no suite/),
    ]);
    expect(blockProblems([page(text)], [suite("commandsOf('docs/a.md', 'Steps');")])).toEqual([]);
  });

  test.each([
    ['a picture', '```\napi ─▶ router\n```'],
    ['the headers of a request', '```\nPOST <url>\nAccept: application/json\n```'],
    ['a program', '```js\nawait fetch(url);\n```'],
    ['a file', '```yaml\nname: x\n```'],
  ])('is not %s', (_, text) => {
    expect(commandBlocks('docs/a.md', page(text).text)).toEqual([]);
  });

  test('may be marked with a reason, directly above it', () => {
    expect(blockProblems([page(`${MARK}\n${BLOCK}`)], [])).toEqual([]);
    expect(blockProblems([page(`- x\n\n  ${MARK}\n  ${BLOCK.replaceAll('\n', '\n  ')}`)], [])).toEqual([]);
  });
});

test.each<[string, string, string, RegExp]>([
  ['a mark without a reason', `<!-- not typed: later -->\n${BLOCK}`, '', /is no reason/],
  ['an empty mark', `<!-- not typed: -->\n${BLOCK}`, '', /no suite types/],
  ['another comment', `<!-- prettier-ignore -->\n${BLOCK}`, '', /no suite types/],
  ['a mark with a line between', `${MARK}\n\nText.\n\n${BLOCK}`, '', /no suite types/],
  [
    'a mark with nothing below',
    `${BLOCK}\n\n${MARK}`,
    "commandsOf('docs/a.md', 'Steps');",
    /not directly above/,
  ],
  ['a mark on what is typed', `${MARK}\n${BLOCK}`, "commandsOf('docs/a.md', 'Steps');", /not to be marked/],
  [
    'a second block',
    `${BLOCK}\n\n${BLOCK}`,
    "commandsOf('docs/a.md', 'Steps');",
    /"Steps", block 2: no suite/,
  ],
  ['a heading that is gone', '', "commandsOf('docs/a.md', 'Steps');", /has no command block/],
  ['a name that is not written out', '', 'commandsOf(path, heading);', /literals/],
])('the rule finds %s', (_, text, code, problem) => {
  expect(blockProblems([page(text)], [suite(code)])).toEqual(
    expect.arrayContaining([expect.stringMatching(problem)]),
  );
});

test('a block is split where bash would, and its comments are left to bash', () => {
  const text = `# only a comment\nls  # all\ncurl x \\\n  -d '{\n  "a": "'"$(node -p '1')"'" }'\ncat <<E\nx\nE\n(cd a && b)`;
  expect(commandsIn(text)).toEqual([
    'ls  # all',
    `curl x \\\n  -d '{\n  "a": "'"$(node -p '1')"'" }'`,
    'cat <<E\nx\nE',
    '(cd a && b)',
  ]);
  expect(commandsIn('keys create --merchant <id>')).toEqual(['keys create --merchant <id>']);
  expect(() => commandsIn("echo 'x")).toThrow(/beginning of a command/);
});
