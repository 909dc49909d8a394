/** The rules on regular expressions find planted violations, and hold for everything that reads foreign text. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { madeExpressionProblems, slowExpressionProblems } from './expressions.ts';
import { isTypeScript, parseModule, readProject } from './project.ts';

const modules = readProject(fileURLToPath(new URL('../..', import.meta.url)))
  .filter(isTypeScript)
  .map(parseModule);
const inService = (text: string) => parseModule({ path: 'services/a.ts', text });

describe('the rule on expressions that are made at run time', () => {
  test.each([
    ['new RegExp(secret)'],
    ['RegExp(name, FLAGS)'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code that is planted.
    ['new RegExp(`^${escaped(name)}$`)'],
    ['new RegExp(forms.map(patternOf).join("|"), "gi")'],
    ['new RegExp(PREFIX + name)'],
  ])('finds %s', (text) => {
    expect(madeExpressionProblems(inService(text))).toEqual([
      expect.stringMatching(/^services\/a\.ts:1: makes/),
    ]);
  });

  test.each([
    ['new RegExp("^a$")'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code that passes.
    ['new RegExp(`^[!-~]{${LENGTH_MIN},${LENGTH_MAX}}$`, "u")'],
    ['new RegExp(PREFIX + "-" + REST)'],
    ['const a = /^a$/'],
  ])('passes %s', (text) => {
    expect(madeExpressionProblems(inService(text))).toEqual([]);
  });

  test('holds', () => {
    expect(modules.flatMap(madeExpressionProblems)).toEqual([]);
  });
});

describe('the rule on expressions that take long', () => {
  test.each([['/(a|a)*b/'], ['/=+$/'], ['/<[^>]*>/g'], ['/^(\\s*x?)*$/']])('finds %s', (text) => {
    expect(slowExpressionProblems(inService(`const a = ${text};`))).toEqual([
      expect.stringMatching(/^services\/a\.ts:1: .* takes more than linear time/),
    ]);
  });

  test.each([['/^a+$/'], ['/[^a]/g'], ['/^\\d{1,9}$/']])('passes %s', (text) => {
    expect(slowExpressionProblems(inService(`const a = ${text};`))).toEqual([]);
  });

  test('holds', () => {
    const problems = modules.flatMap(slowExpressionProblems);
    if (problems.length > 0) expect.fail(`\n${problems.join('\n')}\n`);
  }, 600_000);
});
