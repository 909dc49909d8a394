/**
 * The rules of the house, held by a test that says what to do instead. The rules are functions in test/tidy/;
 * the tests there plant a violation of each and see it found.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { citationProblems } from './tidy/citations.ts';
import {
  ambientProblems,
  erasableProblems,
  fetchProblems,
  fileLengthProblems,
  functionLengthProblems,
} from './tidy/code.ts';
import { blockProblems } from './tidy/command-blocks.ts';
import { crowdProblems, folderProblems } from './tidy/folders.ts';
import { importProblems, importsOf } from './tidy/imports.ts';
import { packageProblems } from './tidy/packages.ts';
import {
  isTypeScript,
  type Module,
  type Problem,
  parseModule,
  readProject,
  readRest,
} from './tidy/project.ts';
import { titleProblems, wordProblems } from './tidy/words.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readProject(root);
const modules = files.filter(isTypeScript).map(parseModule);

/** A newcomer's way through the code, and the doors in: when one of these moves, the layout has changed. */
const LANDMARKS = [
  'services/main.ts',
  'services/operator.ts',
  'services/api/api.ts',
  'services/router/router.ts',
  'services/sender/deliver.ts',
  'services/recorder/recorder.ts',
  'services/domain/outcome.ts',
  'services/domain/retry.ts',
  'services/samples/sample.ts',
  'services/codec/events.ts',
  'services/broker/broker.ts',
  'services/broker/open.ts',
  'services/broker/sqlite/sqlite-broker.ts',
  'services/store/store.ts',
  'services/store/sqlite/sqlite-store.ts',
  'services/process/clock.ts',
  'client/merchant-stream.ts',
  'console/main.tsx',
  'simulator/cli.ts',
  'scripts/bench/bench.ts',
];

function none(problems: readonly Problem[]): void {
  if (problems.length > 0) expect.fail(`\n${problems.join('\n')}\n`);
}

const inModules = (rule: (module: Module) => Problem[]) => modules.flatMap(rule);

test('the tidy rules saw the files they are about', () => {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(LANDMARKS));
  expect(modules.flatMap(importsOf).length).toBeGreaterThan(modules.length);
});

test('a file imports only what its place in the layout may know', () => {
  none(inModules(importProblems));
});

test('no file is too long to be read at once', () => {
  none(files.filter(isTypeScript).flatMap(fileLengthProblems));
});

test('no function is too long to be seen at once', () => {
  none(inModules(functionLengthProblems));
});

test('time, chance and environment are passed in', () => {
  none(inModules(ambientProblems));
});

test('the service never calls fetch', () => {
  none(inModules(fetchProblems));
});

test('the sources run when their types are stripped', () => {
  none(inModules(erasableProblems));
});

test('folders are named after what is done in them', () => {
  none(files.flatMap(folderProblems));
});

test('no folder holds more files than one sees at a glance', () => {
  none(crowdProblems(files));
});

test('no file contains a note to self, a test switch or a path of one machine', () => {
  none(files.flatMap(wordProblems));
});

test('the title of a test is a sentence with the titles around it', () => {
  none(inModules(titleProblems));
});

test('every page, heading and file that is cited or linked exists', () => {
  none(files.flatMap(citationProblems(files, globSync('docs/*.webp', { cwd: root }))));
});

test('every command block of a page is typed by a suite, or says why not', () => {
  none(blockProblems(files, modules));
});

test('no command that is printed or documented fetches a package of a stranger', () => {
  none(
    [...files, ...readRest(root)]
      .filter(({ path }) => path !== 'test/tidy/packages.test.ts')
      .flatMap(packageProblems),
  );
});
