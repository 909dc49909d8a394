/** Each rule of the house finds a planted violation, says what to do instead, and lets the right way pass. */
import { describe, expect, test } from 'vitest';
import {
  ambientProblems,
  erasableProblems,
  fetchProblems,
  fileLengthProblems,
  functionLengthProblems,
} from './code.ts';
import { crowdProblems, folderProblems } from './folders.ts';
import { importProblems } from './imports.ts';
import { type Module, type Problem, parseModule } from './project.ts';
import { titleProblems, wordProblems } from './words.ts';

type Rule = (module: Module) => Problem[];
type Case = readonly [path: string, text: string, says?: RegExp];

/** Runs a rule on sources in memory: planted ones must be found once, at the right line; right ones must pass. */
function prove(rule: Rule, planted: readonly Case[], right: readonly Case[]): void {
  for (const [path, text, says] of planted) {
    test(`finds in ${path}: ${text.slice(0, 80)}`, () => {
      const problems = rule(parseModule({ path, text }));
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(path);
      if (says) expect(problems[0]).toMatch(says);
    });
  }
  for (const [path, text] of right) {
    test(`passes in ${path}: ${text.slice(0, 80)}`, () => {
      expect(rule(parseModule({ path, text }))).toEqual([]);
    });
  }
}

describe('the rule on imports', () => {
  prove(
    importProblems,
    [
      ['services/domain/a.ts', "import { a } from 'node:fs';", /domain must not import "node:fs".*pure/],
      ['services/domain/a.ts', "import { hmac } from '@noble/hashes/hmac.js';", /only node:crypto/],
      ['services/domain/a.ts', "import type { Clock } from '../process/clock.ts';", /domain.*process.*pure/],
      ['services/domain/a.ts', "import { b } from '../samples/b.ts';", /domain must not import/],
      ['services/api/a.ts', "import { b } from '../operator/commands/b.ts';", /api station must not/],
      [
        'services/telemetry/a.ts',
        "import type { A } from '../domain/event.ts';",
        /foundation must not import/,
      ],
      [
        'services/broker/broker.ts',
        "import type { A } from '../process/clock.ts';",
        /port speaks of the domain only/,
      ],
      ['services/broker/sqlite/a.ts', "import { b } from '../kafka/b.ts';", /the SQLite broker must not/],
      ['services/broker/sqlite/a.ts', "import { b } from '../../store/sqlite/b.ts';", /An engine knows/],
      ['services/store/sqlite/a.ts', "import type { B } from '../../broker/broker.ts';", /An engine knows/],
      ['services/sender/a.ts', "import { b } from '../router/b.ts';", /sender station must not.*two ports/],
      ['services/api/routes/a.ts', "import { b } from '../../broker/sqlite/b.ts';", /A station knows/],
      ['services/recorder/a.ts', "export * from '../broker/open.ts';", /recorder station must not/],
      ['services/router/a.ts', "const b = await import('../sender/b.ts');", /router station must not/],
      ['services/router/a.ts', "type B = import('../sender/b.ts').B;", /router station must not/],
      ['services/api/a.ts', "new URL('../recorder/b.ts', import.meta.url);", /api station must not/],
      [
        'services/main.ts',
        "import { b } from './broker/sqlite/b.ts';",
        /services\/store\/open\.ts choose engines/,
      ],
      ['services/domain/a.ts', "import { b } from '../b.ts';", /Nothing imports tests/],
      ['simulator/cli.ts', "import { b } from '../scripts/b.ts';", /Nothing imports tests, scripts/],
      ['simulator/a.ts', "import { b } from '../services/main.ts';", /Only simulator\/commands\/sandbox/],
      ['simulator/a.ts', "import { b } from '../services/sender/b.ts';", /as an outsider would/],
      ['services/mail/a.ts', "import { b } from '../domain/b.ts';", /belongs to no part of the layout/],
      ['services/sender/a.ts', "import { b } from './b';", /no ending/],
      ['test/a.test.ts', "import { b } from './b.js';", /no ending/],
      ['services/sender/a.ts', "import ip from 'ip';", /net\.BlockList/],
    ],
    [
      ['services/domain/a.ts', "import { createHmac } from 'node:crypto'; import { b } from './b.ts';"],
      [
        'services/samples/a.ts',
        "import { sha256 } from '@noble/hashes/sha2.js'; import '../domain/event.ts';",
      ],
      ['services/codec/a.ts', "import avsc from 'avsc'; import type { A } from '../domain/event.ts';"],
      [
        'services/broker/sqlite/a.ts',
        "import { a } from '../../codec/a.ts'; import type { B } from '../broker.ts';",
      ],
      [
        'services/sender/a.ts',
        "import type { A } from '../broker/broker.ts'; import { b } from '../process/b.ts';",
      ],
      ['services/broker/open.ts', "import { a } from './sqlite/a.ts'; import { b } from './kafka/b.ts';"],
      ['services/api/a.ts', "import { b } from '../domain/samples/b.ts';"],
      ['services/main.ts', "import { a } from './api/a.ts'; import { b } from './broker/open.ts';"],
      ['simulator/commands/sandbox.ts', "import { a } from '../../services/main.ts';"],
      ['test/a.test.ts', "import { a } from '../services/sender/a.ts'; import { b } from '../scripts/b.ts';"],
      ['scripts/bench/a.ts', "import { a } from '../../simulator/a.ts';"],
    ],
  );
});

describe('the wall around the Kafka client', () => {
  prove(
    importProblems,
    [
      [
        'services/kafka-client/consumer/a.ts',
        "import type { A } from '../../domain/task.ts';",
        /Kafka client must not import.*nothing of webhooks/,
      ],
      ['services/kafka-client/a.ts', "import { b } from '../config/b.ts';", /nothing of webhooks/],
      [
        'services/kafka-client/a.ts',
        "import { b } from '../broker/kafka/b.ts';",
        /move the code to the engine/,
      ],
      ['services/kafka-client/a.ts', "import avsc from 'avsc';", /it may import only kafkajs/],
      ['services/sender/a.ts', "import { b } from '../kafka-client/b.ts';", /sender station must not/],
      ['services/broker/sqlite/a.ts', "import '../../kafka-client/b.ts';", /SQLite broker must not/],
    ],
    [
      [
        'services/kafka-client/a.ts',
        "import { Kafka } from 'kafkajs'; import type { Logger } from '../telemetry/logger.ts';",
      ],
      ['services/broker/kafka/a.ts', "import { a } from '../../kafka-client/client/a.ts';"],
    ],
  );
});

describe('the wall around the blame of receivers', () => {
  prove(
    importProblems,
    [
      [
        'services/sender/blame/a.ts',
        "import type { A } from '../lanes/a.ts';",
        /how time is blamed must not import.*nothing of lanes or HTTP/,
      ],
      ['services/sender/blame/blame.ts', "import { a } from '../http/a.ts';", /pass the value in/],
      ['services/sender/blame/a.ts', "import type { A } from './blame.ts';", /asks.*blame\.ts/],
      ['services/sender/blame/a.ts', "import { performance } from 'node:perf_hooks';", /no package/],
      ['services/sender/lanes/a.ts', "import { a } from '../blame/a.ts';", /sender station must not/],
      [
        'services/recorder/a.ts',
        "import { a } from '../sender/blame/blame.ts';",
        /recorder station must not/,
      ],
      ['services/main.ts', "import { Blame } from './sender/blame/blame.ts';", /the wiring must not/],
    ],
    [
      ['services/sender/blame/blame.ts', "import { a } from './a.ts';"],
      ['services/sender/blame/a.ts', "import { b } from './b.ts'; import '../../process/clock.ts';"],
      ['services/sender/http/a.ts', "import { Deadlines } from '../blame/blame.ts';"],
    ],
  );
});

describe('the rules on lengths', () => {
  const lines = (count: number) => '// line\n'.repeat(count);
  const body = (count: number) => `${'  step();\n'.repeat(count - 2)}}`;
  prove(
    fileLengthProblems,
    [['services/api/a.ts', lines(301), /301 lines, at most 300/]],
    [
      ['a.ts', lines(300)],
      ['client/generated/a.ts', lines(301)],
    ],
  );
  prove(
    functionLengthProblems,
    [
      ['services/api/a.ts', `function a() {\n${body(71)}`, /a function of 71 lines, at most 70/],
      ['services/api/a.ts', `class A {\nm() {\n${body(71)}\n}`, /a\.ts:2: /],
      ['services/api/a.ts', `const a = () => {\n${body(71)};`],
      ['test/a.test.ts', `describe('a', () => {\n  test('b', () => {\n${body(71)});\n});`, /a\.test\.ts:2: /],
    ],
    [
      ['services/api/a.ts', `function a() {\n${body(70)}`],
      ['test/a.test.ts', `describe('a', () => {\n${"  test('b', () => {});\n".repeat(100)}});`],
    ],
  );
});

describe('the rule on crowded folders', () => {
  const filesIn = (folder: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ path: `${folder}/a${i}.ts`, text: '' }));
  test.each(['services', 'services/api', 'simulator/commands', 'scripts/bench', 'test/support/kafka'])(
    'finds the 21st file in %s',
    (folder) => {
      expect(crowdProblems(filesIn(folder, 21))).toEqual([
        expect.stringMatching(`^${folder}: 21 files, at most 20.*named after`),
      ]);
    },
  );
  test('passes twenty files, those of the folders below, a file per promise and what is data', () => {
    const full = ['services/api', 'services/api/routes'].flatMap((folder) => filesIn(folder, 20));
    const others = ['test/guarantees', 'schemas/events'].flatMap((folder) => filesIn(folder, 21));
    expect(crowdProblems([...full, ...others])).toEqual([]);
  });
  test('finds the 21st file below the folder that holds a file per promise', () => {
    expect(crowdProblems(filesIn('test/guarantees/kafka', 21))).toHaveLength(1);
  });
});

describe('the rule on time, chance and environment', () => {
  prove(
    ambientProblems,
    [
      ['services/sender/a.ts', 'const a = Date.now();', /take a Clock/],
      ['services/sender/a.ts', 'const a = new Date();', /take a Clock/],
      ['services/sender/a.ts', 'const a = performance.now();', /take a Clock/],
      ['services/sender/a.ts', 'const a = process.hrtime.bigint();'],
      ['services/sender/a.ts', 'const a = Math.random();', /take a Random/],
      ['services/sender/a.ts', 'setTimeout(a, 5);', /clock\.sleep/],
      ['services/sender/a.ts', 'const later = globalThis.setInterval;', /clock\.sleep/],
      ['services/sender/a.ts', 'const now = { now: Date.now };', /take a Clock/],
      ['services/api/a.ts', "import { setTimeout as sleep } from 'node:timers/promises';", /clock\.sleep/],
      ['services/sender/a.ts', 'const { now, at } = this.#clock;', /on the clock/],
      ['services/sender/a.ts', 'const a = process.env.A;', /take the value from the config/],
      ['services/main.ts', 'const a = process.env; const b = process.env;', /read once/],
    ],
    [
      ['services/sender/a.ts', '// Date.now() is banned\nconst a = "setTimeout(";'],
      ['services/sender/a.ts', 'const { clock } = given; new Date(clock.now()); socket.setTimeout(5);'],
      ['services/process/clock.ts', 'const a = Date.now(); setTimeout(a, 5);'],
      ['services/main.ts', 'run(process.env);'],
      ['test/a.test.ts', 'setTimeout(a, Date.now());'],
    ],
  );
});

describe('the rule on fetch', () => {
  prove(
    fetchProblems,
    [
      ['services/sender/a.ts', "await fetch('https://a.example');", /Use undici\.request/],
      ['services/sender/a.ts', "await globalThis.fetch('https://a.example');"],
      ['services/sender/a.ts', "import { fetch as send } from 'undici';"],
    ],
    [
      ['services/sender/a.ts', "import { request } from 'undici'; queue.fetch();"],
      ['test/a.test.ts', "await fetch('http://127.0.0.1');"],
    ],
  );
});

describe('the rule on erasable syntax', () => {
  prove(
    erasableProblems,
    [
      ['services/api/a.ts', 'enum A { B }', /as const/],
      ['services/api/a.ts', 'namespace A { export const b = 1; }', /A file is a module/],
      ['simulator/a.ts', 'class A { constructor(private readonly b: number) {} }', /Declare the field/],
    ],
    [
      [
        'services/api/a.ts',
        "class A { constructor(b: number) {} }\ndeclare module 'x' {}\ndeclare global { namespace Express {} }",
      ],
    ],
  );
});

describe('the rules on folders, words and titles', () => {
  const note = (word: string) => `const a = 1; // ${word}: later`;
  prove(
    folderProblems,
    ['utils', 'helpers', 'common', 'types', 'interfaces'].map(
      (name) => [`services/${name}/a.ts`, '', /beside/] as const,
    ),
    [['services/domain/types.ts', '']],
  );
  prove(
    wordProblems,
    [
      ['services/api/a.ts', note('TODO'), /Do it now/],
      ['README.md', 'FIXME: say more'],
      ['services/api/a.ts', "if (mode === 'NODE_ENV') skip();", /does not know that it is tested/],
      ['services/api/a.ts', 'const a = globalThis.__test__;'],
      ['docs/a.md', 'see /work/notes.md', /one machine/],
      ['scripts/a.ts', "const dir = '/tmp/a';", /os\.tmpdir/],
      ['console/a.tsx', 'const a = <p dangerouslySetInnerHTML={{ __html: body }} />;', /as text/],
    ],
    [
      ['services/api/a.ts', "const path = 'network/work/a'; // todos and mastodon"],
      ['test/a.test.ts', "const dir = '/tmp/a';"],
    ],
  );
  prove(
    titleProblems,
    [
      ['test/a.test.ts', "it('what waits is sent', () => {});", /question word/],
      ['test/a.test.ts', "describe('lanes', () => it.each(all)('wait', go));", /a\.test\.ts:1.*three words/],
      ['test/a.test.ts', "describe('a lane', () => it('is full:', () => {}));", /colon/],
      ['test/a.test.ts', 'test.skipIf(a)(`the fault of is ours`, () => {});', /part of hookrail/],
    ],
    [['test/a.test.ts', "describe('a lane', () => it('fills up', () => test.take('it')));"]],
  );
});
