import { asTyped } from '../services/messages/as-typed.ts';
import { explainLine, InvalidLine, type Vocabulary } from '../services/messages/invalid-line.ts';
import type { MeantLines } from '../services/messages/meant-lines.ts';
import { ownVersion } from '../services/process/version.ts';
import { report, runCommandLine, wantsJson } from './cli.ts';
import { nameOf, SIMULATOR, SIMULATOR_TOOL, START_TOOL } from './commands.ts';
import { EXIT, usage } from './exit.ts';
import { runAsProcess } from './process.ts';
import { DATA_DIR_HERE, type Found, foundDataDir } from './sandbox-place.ts';
import type { Surroundings } from './session.ts';
import { HELP_WIDTH, layout, widthOf } from './terminal/width.ts';
import { MEANT, RULES } from './vocabulary.ts';

/**
 * The executable `hookrail`: loads the one tool that the first word names, so that its first line appears at once.
 */

interface Tool {
  readonly describe: string;
  run(args: readonly string[], surroundings: Surroundings): Promise<number>;
}

const TOOLS: Readonly<Record<string, Tool>> = {
  start: {
    describe: 'Start the sandbox: everything, in one process',
    run: (args, surroundings) => runCommandLine(['start', ...args], surroundings, START_TOOL),
  },
  sim: {
    describe: 'Play, send and watch webhooks of the sandbox',
    run: (args, surroundings) => runCommandLine(args, surroundings, SIMULATOR_TOOL),
  },
  operator: { describe: 'Merchants, keys, quarantine, replays; the state of a service', run: operator },
  serve: { describe: 'Run the service without the sandbox, for production', run: serve },
  completion: {
    describe: 'Print the completion script of a shell: bash or zsh',
    run: async (args, surroundings) => {
      const { completion } = await import('./completion.ts');
      return completion(args, surroundings, Object.keys(TOOLS));
    },
  },
};

/** The lines of the simulator and of the operator's tool, typed without the name of the tool. */
const SIMULATOR_LINES: MeantLines = {
  ...MEANT,
  ...Object.fromEntries(
    SIMULATOR.filter(({ describe }) => describe !== false).map((command) => [
      nameOf(command),
      nameOf(command),
    ]),
  ),
};

const OPERATOR_WORDS = [
  'merchants',
  'keys',
  'keyring',
  'signing-keys',
  'audit',
  'quarantine',
  'dead-letters',
  'streams',
  'topics',
];

const VOCABULARY: Vocabulary = {
  tool: 'hookrail',
  valued: new Set(),
  rules: RULES,
  meant: {
    '-v': '--version',
    '-V': '--version',
    ...Object.fromEntries(
      Object.entries(SIMULATOR_LINES).map(([typed, meant]) => [
        typed,
        meant.startsWith('hookrail ') ? meant : `sim ${meant}`,
      ]),
    ),
    ...Object.fromEntries(OPERATOR_WORDS.map((word) => [word, `operator ${word}`])),
  },
};

/**
 * Runs the command line of this process: bin/hookrail.mjs calls it.
 *
 * @public
 */
export async function main(): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2);
  // A service stops in its own way.
  if (name === 'serve' && args.length === 0) return service();
  await runAsProcess((surroundings) => runTool(name, args, surroundings));
}

/** Runs the tool that a line names. Resolves with the exit code. */
export async function runTool(
  name: string,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { stdout } = surroundings;
  const print = (text: string) => {
    stdout.write(`${text}\n`);
    return EXIT.ok;
  };
  if (Object.hasOwn(TOOLS, name)) return (TOOLS[name] as Tool).run(args, surroundings);
  if (name === '--help' || name === '-h' || name === 'help') return print(help(surroundings));
  if (name === '--version') return print(ownVersion());
  const line = [name, ...args].filter((word) => word !== '');
  const invalid = new InvalidLine('name a command');
  const { message, next } = await explainLine(
    invalid,
    line,
    async (path) => topic(path, surroundings),
    VOCABULARY,
  );
  return report(usage(message, ...next), args, surroundings);
}

function help({ stdout, environment }: Surroundings): string {
  const width = widthOf(stdout, HELP_WIDTH);
  const named = (name: string) => `  ${asTyped(`hookrail ${name}`, environment)}`;
  const commands = Object.entries(TOOLS).map(([name, { describe }]) => [named(name), describe]);
  const options = [
    ['  --help', 'Show help; that of a command: hookrail sim --help'],
    ['  --version', 'Show the version'],
  ];
  return `hookrail <command>\n\nCommands:\n${layout.columns(commands, width)}\n\nOptions:\n${layout.columns(options, width)}`;
}

/** A word that is no command has no help. */
function topic(path: readonly string[], surroundings: Surroundings): string {
  return path.length === 0 ? help({ ...surroundings, environment: {} }) : '';
}

async function operator(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { runOperator } = await import('../services/operator.ts');
  const { environment, stdout, stderr } = surroundings;
  const isGiven = args.some((word) => /^--(data-dir|help)(=|$)/.test(word));
  let found: Found;
  try {
    found = isGiven
      ? { dataDir: environment.HOOKRAIL_DATA_DIR || DATA_DIR_HERE, why: null }
      : foundDataDir(environment);
  } catch (error) {
    return report(error, args, surroundings);
  }
  if (found.why && !wantsJson(args)) stderr.write(`${found.why}\n`);
  return runOperator(
    args,
    { ...environment, HOOKRAIL_DATA_DIR: found.dataDir },
    (line) => stdout.write(`${line}\n`),
    (line) => stderr.write(`${line}\n`),
  );
}

/** Its settings are variables: a line with anything more is a request for help, or a mistake. */
async function serve(args: readonly string[], surroundings: Surroundings): Promise<number> {
  if (args.length > 0 && args[0] !== '--help') {
    const message = `"${args[0]}" is one word too many for serve; its settings are variables`;
    return report(usage(message, 'hookrail serve --help'), args, surroundings);
  }
  const text =
    'hookrail serve\n\nRuns the service without the sandbox. Its settings are variables, which\nthe page docs/configuration.md lists.';
  surroundings.stdout.write(`${text}\n`);
  return EXIT.ok;
}

async function service(): Promise<void> {
  const { runService } = await import('../services/main.ts');
  runService();
}
