/** The rule on citations finds a page or heading that does not exist, says what to do instead, and lets the others pass. */
import { describe, expect, test } from 'vitest';
import { citationProblems } from './citations.ts';

describe('the rule on citations', () => {
  const pages = [
    { path: 'README.md', text: '# Project' },
    { path: 'docs/design.md', text: '# Design\n\n## Address guard\n\n```\n# no heading\n```\n\n## Lanes\n' },
    { path: 'docs/api.md', text: '## The `/test` operation\n' },
  ];
  const problemsOf = (path: string, text: string) => {
    const file = { path, text };
    return citationProblems([...pages, file])(file);
  };

  test.each([
    [
      'services/a.ts',
      '/** As decisions §4 has it. */',
      /^services\/a\.ts:1: "decisions §4".*cite docs\/decisions\.md/,
    ],
    ['services/a.ts', 'const a = 1; // specification 6.1', /"specification 6\.1"/],
    ['services/a.ts', '/**\n * The design,\n * section 3, says why.\n */', /^services\/a\.ts:2:/],
    ['docs/a.md', '# A\n\nSee §2.', /^docs\/a\.md:3: "§2"/],
    ['services/a.ts', '// reliability.md says why', /reliability\.md, which does not exist/],
    [
      'services/a.ts',
      '// design.md says why',
      /names design\.md, which does not exist. Write its path from the root/,
    ],
    ['services/a.ts', '// ../shared/design.md says why', /\.\.\/shared\/design\.md, which does not exist/],
    [
      'services/a.ts',
      "throw new Error('see docs/producers.md');",
      /docs\/producers\.md, which does not exist/,
    ],
    [
      'services/a.ts',
      '/** (docs/design.md, "Address guards") */',
      /"Address guards" is no heading of docs\/design\.md/,
    ],
    [
      'services/a.ts',
      '/**\n * See docs/design.md,\n * "Lane".\n */',
      /^services\/a\.ts:2: "Lane" is no heading/,
    ],
    ['services/a.ts', '// docs/design.md, "Lanes" and "Guard"', /"Guard" is no heading/],
    ['services/a.ts', '// docs/design.md, "no heading"', /"no heading" is no heading/],
    ['docs/a.yml', 'runbook: docs/design.md#lane', /"#lane" is no heading/],
    ['openapi.yaml', 'description: see docs/errors.md', /docs\/errors\.md, which does not exist/],
    ['docs/a.md', 'Named in reliability.md.', /reliability\.md, which does not exist/],
    ['docs/a.md', 'As design.md, "Lane", says.', /"Lane" is no heading of docs\/design\.md/],
    ['docs/a.md', '\n[design](design.md#lane)', /^docs\/a\.md:2: links to "#lane", which is no heading/],
    ['docs/a.md', '[design](../design.md)', /links to design\.md, which does not exist/],
    ['docs/a.md', '# A\n\n[below](#b)', /"#b", which is no heading of docs\/a\.md/],
  ])('finds in %s: %s', (path, text, says) => {
    const problems = problemsOf(path, text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(says);
  });

  test.each([
    ['services/a.ts', '/** (docs/design.md, "Address guard"); the specification; README.md */'],
    ['services/a.ts', '/**\n * See docs/design.md, "Address\n * guard" and "Lanes".\n */'],
    ['services/a.ts', '// RFC 9110 §9.3.2, §15 and\n// (RFC 9562\n// §4.2)'],
    ['services/a.ts', "// https://example.org/docs/other.md\nconst a = read('./../README.md');"],
    ['docs/a.yml', 'runbook: docs/design.md#lanes'],
    [
      'docs/a.md',
      'See docs/design.md, "Lanes", design.md and ../README.md, docs/api.md, "The /test operation".',
    ],
    ['docs/a.md', '[guard](design.md#address-guard) [docs](../docs) [site](https://example.org/a.md#b)'],
    ['docs/a.md', '[a test](api.md#the-test-operation)'],
    ['docs/a.md', '# A b\n\n## `A` b\n\n[second](#a-b-1)'],
  ])('passes in %s: %s', (path, text) => {
    expect(problemsOf(path, text)).toEqual([]);
  });
});
