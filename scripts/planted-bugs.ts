/**
 * `npm run planted [-- --only ID …] [--slow] [--clean] [--list]`: plants bugs in a copy of the repository, one after the
 * other, and runs the tests that must find each. Prints a table, and exits 1 unless all are caught.
 */

import { fileURLToPath } from 'node:url';
import yargs from 'yargs';
import { messageOf } from '../services/messages/error-message.ts';
import { startLocalKafka } from './local-kafka/cluster.ts';
import { PLANTED_BUGS } from './planted/all-bugs.ts';
import { type Finding, findBug } from './planted/find-bug.ts';
import type { PlantedBug } from './planted/planted-bug.ts';
import { runTests, type TestsToRun } from './planted/run-tests.ts';
import { WorkingCopy } from './planted/working-copy.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

async function readOptions(args: readonly string[]) {
  return await yargs([...args])
    .scriptName('npm run planted --')
    .usage('$0: plants bugs in a copy of the repository; the tests must find each')
    .option('only', { type: 'string', array: true, describe: 'only the bugs with these ids' })
    .option('slow', { type: 'boolean', default: false, describe: 'also the bugs whose tests are slow' })
    .option('list', { type: 'boolean', default: false, describe: 'list the bugs without planting them' })
    .option('clean', { type: 'boolean', default: false, describe: 'first run the tests without a bug' })
    .strict()
    .wrap(100)
    .version(false)
    .help()
    .parseAsync();
}

function chosen(only: readonly string[] | undefined, isSlowToo: boolean): readonly PlantedBug[] {
  const unknown = only?.filter((id) => !PLANTED_BUGS.some((bug) => bug.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`no such bug: ${unknown.join(', ')}; --list shows them`);
  return PLANTED_BUGS.filter(({ id, isSlow }) => only?.includes(id) ?? (isSlowToo || !isSlow));
}

/** Uses the brokers that the environment names, or starts some for this run. */
async function withKafka(
  bugs: readonly PlantedBug[],
  use: (environment: NodeJS.ProcessEnv) => Promise<void>,
) {
  const environment: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  const isNamed = environment.HOOKRAIL_TEST_KAFKA_BROKERS !== undefined;
  if (isNamed || !bugs.some(({ needsKafka }) => needsKafka)) return use(environment);
  const say = (line: string) => console.error(line);
  const kafka = await startLocalKafka({ nodes: 3, registry: true, isShortLived: true, environment, say });
  try {
    await use({
      ...environment,
      HOOKRAIL_TEST_KAFKA_BROKERS: kafka.brokers.join(','),
      HOOKRAIL_TEST_SCHEMA_REGISTRY_URL: kafka.registryUrl,
    });
  } finally {
    await kafka.stop();
  }
}

/** Runs each test once, without a bug. Returns how many fail. */
async function runClean(copy: WorkingCopy, bugs: readonly PlantedBug[], environment: NodeJS.ProcessEnv) {
  const tests = new Map<string, TestsToRun>();
  for (const { test, title } of bugs)
    tests.set(`${test} ${title ?? ''}`, { test, ...(title === undefined ? {} : { title }) });
  let wrong = 0;
  for (const [name, test] of tests) {
    const { kind, detail } = await runTests(copy.folder, test, environment);
    if (kind === 'passed') continue;
    wrong += 1;
    console.log(`fails without a bug: ${name}\n  ${detail}`);
  }
  return wrong;
}

async function plantAll(copy: WorkingCopy, bugs: readonly PlantedBug[], environment: NodeJS.ProcessEnv) {
  const width = Math.max(...bugs.map(({ id }) => id.length));
  const findings: Finding[] = [];
  for (const bug of bugs) {
    const startedAt = performance.now();
    const finding = await findBug(copy, bug, environment);
    findings.push(finding);
    const seconds = `${Math.round((performance.now() - startedAt) / 1000)} s`.padStart(5);
    console.log(
      `${bug.id.padEnd(width)}  ${finding.verdict.padEnd(17)} ${seconds}  ${finding.detail.slice(0, 120)}`,
    );
  }
  const count = (verdict: Finding['verdict']) => findings.filter((each) => each.verdict === verdict).length;
  const [missed, impossible] = [count('NOT CAUGHT'), count('cannot be planted')];
  console.log(`\n${count('caught')} caught, ${missed} not caught, ${impossible} cannot be planted`);
  return missed + impossible;
}

async function main(): Promise<void> {
  const { only, slow, list, clean } = await readOptions(process.argv.slice(2));
  const bugs = chosen(only, slow);
  if (list) {
    for (const { id, bug, isSlow } of bugs) console.log(`${id}${isSlow ? ' (slow)' : ''}: ${bug}`);
    return;
  }
  const copy = new WorkingCopy(ROOT);
  process.once('exit', () => copy.remove());
  await withKafka(bugs, async (environment) => {
    const wrong = clean ? await runClean(copy, bugs, environment) : 0;
    process.exitCode = wrong + (await plantAll(copy, bugs, environment)) === 0 ? 0 : 1;
  });
}

// process.exit lets every part clean up.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(1);
});
